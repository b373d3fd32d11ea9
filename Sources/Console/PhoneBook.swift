import Digests
import FoundationEssentials
import Glibc
import TakeFiles
import Takes

/// The phones that were paired, each with a token of its own, of which only the hash is kept: a file in the library's folder. May be
/// used by any thread.
final class PhoneBook: Sendable {
    /// A phone that was paired.
    struct Phone: Codable, Hashable, Sendable {
        /// Names it for those who remove it.
        var id: String
        /// As its owner calls it.
        var name: String
        /// When it was paired: ISO 8601, UTC.
        var since: String
        /// When it was last here, to the day.
        @ExplicitNull var seen: String?
        /// SHA-256 of its token, hexadecimal.
        var sha256: String
    }

    private struct Document: Codable {
        var schema = 1
        var phones: [Phone] = []
    }

    private let directory: String
    private let files = FileSystem()
    private let document: Locked<Document>

    /// More are not kept: the one that was here longest ago goes.
    static let mostPhones = 50
    /// The most bytes of a phone's name.
    static let longestName = 100

    /// Reads the book.
    /// - Parameter directory: the library's folder.
    /// - Returns: also why the file could not be used; then all phones must be paired again.
    static func open(in directory: String) -> (PhoneBook, problem: String?) {
        let path = "\(directory)/phones.json"
        do throws(FileError) {
            let bytes = try FileSystem().contents(path, limit: 1 << 20)
            guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)) else {
                let problem = "console: \(path): cannot be used: all phones must be paired again"
                return (PhoneBook(directory, Document()), problem)
            }
            return (PhoneBook(directory, document), nil)
        } catch {
            let problem = error.code == ENOENT ? nil : "console: \(error.fact): all phones must be paired again"
            return (PhoneBook(directory, Document()), problem)
        }
    }

    private init(_ directory: String, _ document: Document) {
        self.directory = directory
        self.document = Locked(document)
    }

    var phones: [Phone] { document.withLock(\.phones) }

    /// Notes a new phone. It is on the disk when this returns.
    /// - Returns: it, and its token: 32 random bytes in hexadecimal.
    func add(name: String, now: WallTime) throws(FileError) -> (Phone, token: String) {
        let token = Self.random(byteCount: 32)
        let phone = Phone(
            id: Self.random(byteCount: 6), name: name, since: now.iso8601, seen: now.date, sha256: Self.hash(token))
        try change { document in
            // The new one stays, whatever the clock says.
            while document.phones.count >= Self.mostPhones,
                let oldest = document.phones.indices.min(by: { left, right in
                    (document.phones[left].seen ?? "", left) < (document.phones[right].seen ?? "", right)
                })
            {
                document.phones.remove(at: oldest)
            }
            document.phones.append(phone)
        }
        return (phone, token)
    }

    /// Whether a phone is still paired.
    func has(_ id: String) -> Bool { phones.contains { $0.id == id } }

    /// Removes a phone: its token is worth nothing any more.
    /// - Returns: whether there was one.
    func remove(_ id: String) throws(FileError) -> Bool {
        guard phones.contains(where: { $0.id == id }) else { return false }
        try change { $0.phones.removeAll { $0.id == id } }
        return true
    }

    /// The phone that a token belongs to; nil: none. Notes the day on which it was here.
    func phone(token: String, now: WallTime) -> Phone? {
        guard token.utf8.count == 64 else { return nil }
        let hash = Self.hash(token)
        guard let phone = phones.first(where: { $0.sha256 == hash }) else { return nil }
        if phone.seen != now.date {
            // Only the list shows it: a disk that is full takes no right away.
            try? change { document in
                for index in document.phones.indices where document.phones[index].id == phone.id {
                    document.phones[index].seen = now.date
                }
            }
        }
        return phone
    }

    /// Writes the book before it holds what was changed: the file is the truth.
    private func change(_ body: (inout Document) -> Void) throws(FileError) {
        var thrown: FileError?
        document.withLock { document in
            var changed = document
            body(&changed)
            do throws(FileError) {
                try write(changed)
                document = changed
            } catch {
                thrown = error
            }
        }
        if let thrown { throw thrown }
    }

    private func write(_ document: Document) throws(FileError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        guard let bytes = try? encoder.encode(document) else { return }
        let path = "\(directory)/phones.json"
        let file = try files.create(path + ".tmp", isNew: false, mode: 0o600)
        try files.write(Array(bytes) + [0x0a], to: file, at: 0)
        try files.sync(file)
        try files.move(path + ".tmp", to: path)
        try files.syncFolder(try files.openFolder(directory))
    }

    private static func random(byteCount: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }.hexadecimal
    }

    private static func hash(_ token: String) -> String { Digest.sha256(token).hexadecimal }
}
