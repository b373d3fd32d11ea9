import Digests
import Files
import FoundationEssentials
import Glibc
import Takes
import Workers

/// The paired phones, each with its own token, of which only the hash is stored. The file is in the library's folder.
/// Thread-safe.
final class PhoneBook: Sendable {
    struct Phone: Codable, Hashable, Sendable {
        /// Identifies the phone for its removal.
        var id: String
        /// The name chosen by its owner.
        var name: String
        /// When it was paired, in ISO 8601, UTC.
        var since: String
        /// The day of its last visit.
        @ExplicitNull var seen: String?
        /// SHA-256 of its token, in hexadecimal.
        var sha256: String
    }

    fileprivate struct Document: Codable {
        var schema = 1
        var phones: [Phone] = []
    }

    /// The book in memory and on the disk.
    fileprivate struct Copies: Sendable {
        let directory: String
        let files: FileSystem
        /// Read by each request, so nobody holds this lock during disk access.
        let document: Locked<Document>
        /// Held by the one thread that may write.
        let writing = Locked(())
    }

    private let copies: Copies
    /// Writes visits to the disk.
    private let visits: Worker<Void, Never>

    /// Further phones are refused.
    static let mostPhones = 50

    /// Why a phone was not added.
    enum Failure: Error {
        case full
        case file(FileError)
    }

    /// Reads the book.
    /// - Parameter directory: the library's folder.
    /// - Returns: the book, and why the file could not be used. In that case all phones must be paired again.
    static func open(in directory: String, files: FileSystem = FileSystem()) -> (PhoneBook, problem: String?) {
        let path = "\(directory)/phones.json"
        do throws(FileError) {
            let bytes = try files.contents(path, limit: 1 << 20)
            guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)) else {
                let problem = "console: \(path): cannot be used: all phones must be paired again"
                return (PhoneBook(directory, files, Document()), problem)
            }
            return (PhoneBook(directory, files, document), nil)
        } catch {
            let problem = error.code == ENOENT ? nil : "console: \(error.fact): all phones must be paired again"
            return (PhoneBook(directory, files, Document()), problem)
        }
    }

    private init(_ directory: String, _ files: FileSystem, _ document: Document) {
        let copies = Copies(directory: directory, files: files, document: Locked(document))
        self.copies = copies
        visits = Worker(clock: SystemClock()) { orders, _, _ in
            if !orders.isEmpty { copies.write() }
            return nil
        }
    }

    /// Starts the thread that writes visits. It must be called once.
    func start() throws(ThreadError) { try visits.start(name: "phones", priority: .low) }

    /// Writes the visits so far, if no thread does it.
    func noteVisits() { _ = visits.step() }

    var phones: [Phone] { copies.document.withLock(\.phones) }

    /// Adds a new phone. It is on the disk when this returns.
    /// - Returns: the phone, and its token: 32 random bytes in hexadecimal.
    func add(name: String, now: WallTime) throws(Failure) -> (Phone, token: String) {
        let token = Self.random(byteCount: 32)
        let phone = Phone(
            id: Self.random(byteCount: 6), name: name, since: now.iso8601, seen: now.date, sha256: Self.hash(token))
        var isFull = false
        do throws(FileError) {
            try copies.change { document in
                isFull = document.phones.count >= Self.mostPhones
                if !isFull { document.phones.append(phone) }
            }
        } catch {
            throw .file(error)
        }
        guard !isFull else { throw .full }
        return (phone, token)
    }

    var isFull: Bool { phones.count >= Self.mostPhones }

    func has(_ id: String) -> Bool { phones.contains { $0.id == id } }

    /// Gives a phone another name.
    /// - Returns: the phone with its former name, or nil if it is not in the book.
    func rename(_ id: String, to name: String) throws(FileError) -> Phone? {
        guard let phone = phones.first(where: { $0.id == id }) else { return nil }
        try copies.change { document in
            guard let index = document.phones.firstIndex(where: { $0.id == id }) else { return }
            document.phones[index].name = name
        }
        return phone
    }

    /// Removes a phone, whose token becomes invalid.
    /// - Returns: the phone, or nil if it was not in the book.
    func remove(_ id: String) throws(FileError) -> Phone? {
        guard let phone = phones.first(where: { $0.id == id }) else { return nil }
        try copies.change { $0.phones.removeAll { $0.id == id } }
        return phone
    }

    /// The phone with a token, or nil if it is unknown. It notes the day of the visit without waiting for the disk.
    func phone(token: String, now: WallTime) -> Phone? {
        guard token.utf8.count == 64 else { return nil }
        let hash = Self.hash(token)
        let (phone, isFirstOfDay) = copies.document.withLock { document -> (Phone?, Bool) in
            guard let index = document.phones.firstIndex(where: { $0.sha256 == hash }) else { return (nil, false) }
            let phone = document.phones[index]
            document.phones[index].seen = now.date
            return (phone, phone.seen != now.date)
        }
        if isFirstOfDay { visits.post(()) }
        return phone
    }

    private static func random(byteCount: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }.hexadecimal
    }

    private static func hash(_ token: String) -> String { Digest.sha256(token).hexadecimal }
}

extension PhoneBook.Copies {
    /// Writes the change to the disk before the memory changes, because the file is authoritative.
    fileprivate func change(_ body: (inout PhoneBook.Document) -> Void) throws(FileError) {
        try writing.withLock { _ throws(FileError) in
            var changed = document.withLock { $0 }
            body(&changed)
            try write(changed)
            // Not `changed`, because a visit may have been noted meanwhile.
            document.withLock { body(&$0) }
        }
    }

    /// Writes the book in memory. Errors are ignored: a full disk must not revoke a right, and only the list shows the
    /// visits.
    fileprivate func write() {
        writing.withLock { _ in try? write(document.withLock { $0 }) }
    }

    private func write(_ document: PhoneBook.Document) throws(FileError) {
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
}
