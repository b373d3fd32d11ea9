import Files
import Glibc
import Takes

/// The numbers of the takes in a folder. A number is given once, whatever the clock says: neither in this folder nor,
/// with a mark, by this kit in another one. May be used by any thread.
final class TakeNumbers: Sendable {
    private let folder: OpenFile
    private let files: FileSystem
    private let mark: KitMark?
    /// The last number given, or the highest number on the disk.
    private let number: Locked<Int>

    /// - Parameters:
    ///   - folder: the folder for takes.
    ///   - highest: the highest number on its disk, or 0.
    ///   - mark: the highest number that this kit has given elsewhere, or nil if it keeps none.
    init(in folder: OpenFile, files: FileSystem, highest: Int, mark: KitMark?) {
        self.folder = folder
        self.files = files
        self.mark = mark
        number = Locked(max(highest, mark?.last() ?? 0))
    }

    /// The last number given, or the highest number on the disk.
    var last: Int { number.withLock { $0 } }

    /// The name of a new take. Its number is on the disk when this returns.
    /// - Throws: `FileError`. The number is then lost.
    func next(kit: String, started: WallTime?, nameTime: NameTime) throws(FileError) -> TakeName {
        let name = try number.withLock { last throws(FileError) in
            last = max(last, mark?.last() ?? 0)
            while true {
                guard last < TakeName.highestNumber else {
                    throw FileError("count on in", folder.path, code: EOVERFLOW)
                }
                last += 1
                let name = TakeName(kit: kit, number: last, started: started, nameTime: nameTime)
                // Files that were put there after the directory was opened keep their names.
                if !isTaken(name) { return name }
            }
        }
        mark?.note(name)
        try write(name)
        return name
    }

    /// Makes the last number safe. It may be known only from the names of takes that are about to be removed.
    func keep() throws(FileError) {
        var unreadable: [FileError] = []
        let written = KitMark.number(in: folder.path, files: files, unreadable: &unreadable) ?? 0
        let last = last
        guard written < last else { return }
        try write(TakeName(kit: "kit", number: last, started: WallTime(microseconds: 0)))
    }

    /// Why the kit's mark could not be stored, as a sentence. Each reason is returned once, and otherwise nil.
    func newMarkFailure() -> String? {
        mark?.newFailure().map { "number: \($0.fact): numbers are counted by the takes that are found alone" }
    }

    private func write(_ name: TakeName) throws(FileError) {
        var site = TakeSite(files: files, takes: folder, name: name)
        try site.perform(.number, content: KitMark.bytes(name.number))
    }

    /// Whether there is any file of a take.
    private func isTaken(_ name: TakeName) -> Bool {
        let day = "\(folder.path)/\(name.day)"
        do throws(FileError) {
            return try files.entries(day).contains(where: name.mayOwn)
        } catch {
            guard ![ENOENT, ENOTDIR, ELOOP].contains(error.code) else { return false }
            // A folder that cannot be listed now must not prevent recording. The names that the take needs are checked
            // one by one.
            let documents: [TakeDocument] = [.sidecar, .sidecarPart, .sidecarDraft, .revision, .peaks, .peaksPart]
            let audio = [false, true].map { name.audioFile(part: 1, isUnfiltered: $0) }
            let names = documents.map { $0.name(stem: name.stem) } + audio + audio.map { $0 + ".part" }
            return names.contains { files.isTaken("\(day)/\($0)") }
        }
    }
}
