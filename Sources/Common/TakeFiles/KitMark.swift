import Glibc
import Takes

/// The highest number that this kit has given to a take, in a file of the kit's own: a storage that is new to it does not begin at 1
/// again. May be used by any thread.
public final class KitMark: Sendable {
    private let folder: String
    private let files: FileSystem
    private let state = Locked(State())

    private struct State {
        /// Nil: it was not read yet.
        var last: Int?
        /// Why it could not be read or written, and what of it was not reported yet.
        var failure: FileError?
        var news: FileError?

        mutating func fail(_ error: FileError) {
            if error != failure { news = error }
            failure = error
        }
    }

    /// A kit that makes a take each second reaches the numbers above after thirty years. A file with a higher number leaves no room
    /// for them, so it is not a kit's, and must not stop the numbering.
    static let highestCounted = TakeName.highestNumber - 1_000_000_000

    /// The mark in a folder that belongs to the recorder. Nothing is read yet.
    public init(folder: String, files: FileSystem = FileSystem()) {
        self.folder = folder
        self.files = files
    }

    /// The highest number that this kit has given, as far as that is known; 0: none.
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

    /// Notes that a number is given to a take. It is on the disk when this returns, unless that fails: then it holds as long as the
    /// process runs.
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

    /// Why the mark cannot be kept, once for each reason; nil: nothing new.
    func newFailure() -> FileError? {
        state.withLock { state in
            defer { state.news = nil }
            return state.news
        }
    }

    /// Sets aside what has the name of the number's file, or of its draft, and is none.
    static func makeWay(in folder: String, _ files: FileSystem) throws(FileError) {
        for document in [TakeDocument.number, .numberDraft] {
            try files.makeWay(for: "\(folder)/\(document.name(stem: ""))")
        }
    }

    /// A number as it is written.
    static func bytes(_ number: Int) -> [UInt8] { Array("\(number)\n".utf8) }

    /// The highest number that a folder's mark says; nil: it has none, or it is damaged. A draft counts: a power cut may have left
    /// the number there alone.
    /// - Parameter unreadable: what it cannot be read for is appended.
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
