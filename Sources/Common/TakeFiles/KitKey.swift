public import Files
import Glibc
public import Takes

/// The key that a kit makes at its first start and keeps in a folder of its own: `kit.key`, 32 random bytes, readable
/// only by the recorder.
///
/// The kit's id is computed from the key. So the id survives a new name and new storage for takes, and is lost with the
/// key. May be used by any thread. Methods that read or write files are for worker threads.
public final class KitKey: Sendable {
    private let folder: String
    private let files: FileSystem
    /// Held while the key is read or made.
    private let work = Locked(())
    private let state = Locked((standing: Standing.unread, news: [String]()))

    public enum Standing: Hashable, Sendable {
        case unread
        /// The key is on the disk.
        case kept(KitID)
        /// Why no key would survive a restart, as a sentence.
        case missing(String)

        /// Nil without a key.
        public var id: KitID? {
            if case .kept(let id) = self { id } else { nil }
        }
    }

    /// The size of a key.
    static let byteCount = 32
    /// Only for the recorder's user.
    private static let mode: UInt32 = 0o600

    /// A key in a folder that belongs to the recorder. Nothing is read yet.
    public init(folder: String, files: FileSystem = FileSystem()) {
        self.folder = folder
        self.files = files
    }

    /// Whether the key can be used, as far as is known. It does not wait for files.
    public var standing: Standing { state.withLock(\.standing) }

    /// Sentences to report, each returned once. It does not wait for files.
    public func newSentences() -> [String] {
        state.withLock { state in
            defer { state.news = [] }
            return state.news
        }
    }

    /// Reads the key, or makes one if the file is missing or invalid. Later calls do nothing, except that a key that
    /// could not be stored is tried again.
    /// - Returns: the kit's id, or nil if no key can be stored now.
    @discardableResult public func prepare() -> KitID? {
        work.withLock { _ in
            if let known = standing.id { return known }
            do throws(FileError) {
                if case .volatile(let name) = try files.kind(of: folder) {
                    miss("\(folder) is on \(name), which is kept in memory")
                    return nil
                }
                let id = try Self.id(of: key())
                state.withLock { $0.standing = .kept(id) }
                return id
            } catch {
                miss(error.fact)
            }
            return nil
        }
    }

    private func miss(_ reason: String) {
        let sentence = "kit id: \(reason): takes are recorded without 'kit_id', and are known by their names alone"
        state.withLock { state in
            guard state.standing != .missing(sentence) else { return }
            state.standing = .missing(sentence)
            state.news.append(sentence)
        }
    }

    private var path: String { "\(folder)/kit.key" }

    private func key() throws(FileError) -> [UInt8] {
        if let key = try readKey() { return key }
        return try makeKey()
    }

    /// - Returns: nil if the file is missing or invalid. An invalid file is renamed.
    private func readKey() throws(FileError) -> [UInt8]? {
        let problem: String
        do throws(FileError) {
            let key = try files.contents(of: files.openToRead(path, followsLink: false), limit: Self.byteCount + 1)
            // A disk that lost the content of a file returns zeros, which would be the same key on each kit.
            if key.count == Self.byteCount, key.contains(where: { $0 != 0 }) { return key }
            problem = key.count == Self.byteCount ? "it is all zeros" : "it has not \(Self.byteCount) bytes"
        } catch {
            switch error.code {
            case ENOENT: return nil
            case ELOOP, EISDIR, ENXIO: problem = "it is not a file"
            default: throw error
            }
        }
        let kept = freeName(path + ".damaged")
        try files.rename(path, to: kept)
        let sentence =
            "kit id: \(path) is damaged: \(problem): it is kept as \(kept), and the kit has a new 'kit_id' from here on"
        state.withLock { $0.news.append(sentence) }
        return nil
    }

    /// The path, or the path with a number appended if it exists, so that no kept file is replaced.
    private func freeName(_ path: String) -> String {
        let names = [path] + (2...99).map { "\(path)\($0)" }
        return names.first { !files.isTaken($0) } ?? path
    }

    /// Makes a key, which is on the disk when this returns. If it were lost in a power cut, the next key would give the
    /// kit another id.
    private func makeKey() throws(FileError) -> [UInt8] {
        // `getrandom(2)`.
        var generator = SystemRandomNumberGenerator()
        let key = (0..<Self.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        try files.replace(path, with: key, mode: Self.mode)
        return key
    }

    /// The first 32 hexadecimal digits of the key's SHA-256. The key itself is never written elsewhere.
    static func id(of key: [UInt8]) -> KitID {
        var digest = SoundDigest()
        digest.update(key)
        guard let id = KitID(String(digest.hexadecimal.prefix(32))) else {
            preconditionFailure("a digest has 64 digits")
        }
        return id
    }
}
