import Digests
import FoundationEssentials
import Glibc
import TakeFiles

/// What an upload needs so that it can go on after a restart: a small file an object. One that is lost costs that it begins anew.
public actor ResumeStates {
    private let folder: String
    private let reader: DiskReader

    private static let longest = 1 << 20
    /// The address of an upload may be a secret: who has it can send.
    private static let fileMode: UInt32 = 0o600

    /// - Parameter folder: for these files alone; it is made.
    public init(folder: String, reader: DiskReader) {
        self.folder = folder
        self.reader = reader
    }

    /// What was saved of an object of a store; nil: nothing, or nothing that can be read.
    public func load<State: Codable & Sendable>(_ type: State.Type, of object: ObjectName, in store: String) async
        -> State?
    {
        let path = path(of: object, in: store)
        guard let bytes = try? await reader.perform({ try $0.contents(path, limit: Self.longest) }),
            let saved = try? JSONDecoder().decode(Saved.self, from: Data(bytes)),
            saved.store == store, saved.object == object.path, saved.sha256 == Self.hash(saved.state)
        else { return nil }
        return try? JSONDecoder().decode(type, from: Data(saved.state.utf8))
    }

    /// Saves what is needed; it is on the disk when this returns.
    /// - Throws: `StoreError`, `.unreadable`.
    public func save(_ state: some Codable & Sendable, of object: ObjectName, in store: String) async throws {
        let path = path(of: object, in: store)
        let text = try String(decoding: JSONEncoder().encode(state), as: UTF8.self)
        let saved = Saved(store: store, object: object.path, state: text, sha256: Self.hash(text))
        let bytes = try Array(JSONEncoder().encode(saved))
        let folder = folder
        do {
            try await reader.perform { files in
                _ = try files.makeFolder(folder)
                try files.replace(path, with: bytes, mode: Self.fileMode)
            }
        } catch let error as FileError {
            throw StoreError(.unreadable, "outbox: \(error.fact)")
        }
    }

    /// Forgets an object.
    public func remove(_ object: ObjectName, in store: String) async {
        let path = path(of: object, in: store)
        _ = try? await reader.perform { try $0.remove(path) }
    }

    private struct Saved: Codable {
        var store: String
        var object: String
        /// JSON of its own.
        var state: String
        /// Of `state`: one that a bad block has changed is none.
        var sha256: String
    }

    private static func hash(_ text: String) -> String {
        Digest.sha256(text).hexadecimal
    }

    /// A file's name that any store and object have: letters and digits of a hash.
    private func path(of object: ObjectName, in store: String) -> String {
        "\(folder)/\(Digest.sha256("\(store)\n\(object.path)").hexadecimal.prefix(32)).json"
    }
}
