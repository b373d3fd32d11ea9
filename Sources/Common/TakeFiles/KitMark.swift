public import Files
import Glibc
import Takes

/// The highest take number that this kit has given, stored in a file of the kit. So numbering does not restart at 1 on
/// new storage. May be used by any thread.
public final class KitMark: Sendable {
    private let folder: String
    private let files: FileSystem
    private let state = Locked(State())

    private struct State {
        /// Nil before the mark is read.
        var last: Int?
        /// Why the mark could not be read or written, and the failure that was not reported yet.
        var failure: FileError?
        var news: FileError?

        mutating func fail(_ error: FileError) {
            if error != failure { news = error }
            failure = error
        }
    }

    /// A kit that makes one take per second reaches higher numbers after thirty years. A file with a higher number
    /// leaves no room for those takes. Such a file does not come from a kit, and must not stop the numbering.
    static let highestCounted = TakeName.highestNumber - 1_000_000_000

    /// A mark in a folder that belongs to the recorder. Nothing is read yet.
    public init(folder: String, files: FileSystem = FileSystem()) {
        self.folder = folder
        self.files = files
    }

    /// The highest known number that this kit has given, or 0 if none is known.
    func last() -> Int {
        state.withLock { state in
            if let last = state.last { return last }
            var unreadable: [FileError] = []
            let last = Self.number(in: folder, files: files, unreadable: &unreadable) ?? 0
            if let failure = unreadable.first { state.fail(failure) }
            state.last = last
            return last
        }
    }

    /// Records the number of a take. It is on the disk when this returns. If that fails, the number counts until the
    /// process ends.
    func note(_ take: TakeName) {
        _ = last()
        state.withLock { state in
            state.last = max(state.last ?? 0, take.number)
            do throws(FileError) {
                var site = TakeSite(files: files, takes: try files.openFolder(folder), name: take)
                try site.perform(.number, content: Self.bytes(take.number))
                state.failure = nil
            } catch {
                state.fail(error)
            }
        }
    }

    /// Why the mark cannot be stored. Each reason is returned once, and otherwise nil.
    func newFailure() -> FileError? {
        state.withLock { state in
            defer { state.news = nil }
            return state.news
        }
    }

    /// Sets aside anything that has the name of the number's file or of its draft and is not a file.
    static func makeWay(in folder: String, _ files: FileSystem) throws(FileError) {
        for document in [TakeDocument.number, .numberDraft] {
            try files.makeWay(for: "\(folder)/\(document.name(stem: ""))")
        }
    }

    static func bytes(_ number: Int) -> [UInt8] { Array("\(number)\n".utf8) }

    /// The highest number in a folder's mark, or nil if the mark is missing or damaged. The draft counts, too: after a
    /// power cut it may be the only place with the number.
    /// - Parameter unreadable: read errors are appended to it.
    static func number(in folder: String, files: FileSystem, unreadable: inout [FileError]) -> Int? {
        try? makeWay(in: folder, files)
        var highest: Int?
        for document in [TakeDocument.number, .numberDraft] {
            do throws(FileError) {
                let bytes = try files.contents("\(folder)/\(document.name(stem: ""))", limit: 32)
                let text = String(decoding: bytes, as: UTF8.self)
                guard text.hasSuffix("\n"), let number = Int(text.dropLast()), number < TakeName.highestNumber else {
                    continue
                }
                highest = max(highest ?? 0, number)
            } catch {
                if error.code != ENOENT { unreadable.append(error) }
            }
        }
        return highest
    }
}
