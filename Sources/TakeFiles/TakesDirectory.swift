import Glibc
import Synchronization
public import Takes

/// The directory `takes`: whoever has it open is the only one that writes there. May be used by any thread.
///
/// It holds a folder a day, the file `.number` with the last number given, and `.lock`.
public final class TakesDirectory: Sendable {
    /// Its path.
    public let path: String
    let files: FileSystem
    let folder: OpenFile
    private let lock: TakesLock
    /// The last number given, or the highest that is on the disk.
    private let lastNumber: Mutex<Int>

    /// Opens the directory, or makes it; the folder that it is in must be there, so that a card that is not mounted is noticed.
    ///
    /// - Parameters:
    ///   - path: without a slash at its end.
    ///   - files: how it is reached.
    /// - Throws: `TakesLockError` if another process has it open, else `FileError`.
    public init(path: String, files: FileSystem = FileSystem()) throws {
        self.path = path
        self.files = files
        folder = try files.makeFolder(path)
        lock = try TakesLock(directory: path, files: files)
        // Garbled, or gone: what is on the disk tells as well.
        let written = try? files.contents("\(path)/\(TakeDocument.number.name(stem: ""))", limit: 32)
        let text = String(decoding: written ?? [], as: UTF8.self)
        let number = text.hasSuffix("\n") ? Int(text.dropLast()) : nil
        let highest = try Self.names(in: path, files: files) { _ in true }.map(\.number).max()
        lastNumber = Mutex(max(number ?? 0, highest ?? 0, 0))
    }

    /// The name of a new take, whose number was never given before and will never be given again, whatever the clock says.
    ///
    /// The number is on the disk when this returns.
    /// - Throws: `FileError`; then the number is not given, and lost.
    public func nextTake(kit: String, started: WallTime) throws(FileError) -> TakeName {
        let number = lastNumber.withLock { last in
            last += 1
            return last
        }
        let name = TakeName(kit: kit, number: number, started: started)
        var site = TakeSite(files: files, takes: folder, name: name)
        try site.perform(.number, content: Array("\(number)\n".utf8))
        return name
    }

    /// The finished takes, by number. Read from the names of the files alone.
    public func takes() throws(FileError) -> [TakeName] {
        try Self.names(in: path, files: files) { $0.hasSuffix(".json") }.sorted {
            ($0.number, $0.day, $0.stem) < ($1.number, $1.day, $1.stem)
        }
    }

    /// The path of a finished take's sidecar; its other files lie beside it.
    public func sidecarPath(of take: TakeName) -> String {
        "\(path)/\(take.day)/\(TakeDocument.sidecar.name(stem: take.stem))"
    }

    /// What is known of a finished take.
    /// - Throws: `FileError` or `SidecarError`.
    public func sidecar(of take: TakeName) throws -> Sidecar {
        let path = sidecarPath(of: take)
        return try SidecarFile.sidecar(files.contents(path, limit: 64 << 20), path: path)
    }

    /// Removes all files of a finished take. Not to be called while it is played.
    public func remove(_ take: TakeName) throws(FileError) {
        var site = TakeSite(files: files, takes: folder, name: take)
        try site.perform(.discard)
    }

    /// Bytes that are free for the recorder where the takes are.
    public func freeBytes() throws(FileError) -> Int64 {
        try files.freeBytes(path)
    }

    /// The takes that have a file whose name passes `isCounted`; each once for every such file.
    private static func names(
        in path: String, files: FileSystem, isCounted: (String) -> Bool
    ) throws(FileError) -> [TakeName] {
        var names: [TakeName] = []
        for day in try files.entries(path) where TakeName.isDay(day) {
            let entries: [String]
            do throws(FileError) {
                entries = try files.entries("\(path)/\(day)")
            } catch {
                // A file that is named like a day holds no takes; a folder that somebody just removed none any more.
                guard error.code == ENOTDIR || error.code == ENOENT else { throw error }
                continue
            }
            for file in entries where isCounted(file) {
                if let name = TakeName(file: file, day: day) { names.append(name) }
            }
        }
        return names
    }
}
