import Digests
import Files
import FoundationEssentials
import Glibc

/// The state that an upload needs to resume after a restart: one small file for each object. If a file is lost, the
/// upload starts again.
public actor ResumeStates {
    private let folder: String
    private let reader: DiskReader

    private static let longest = 1 << 20
    /// The address of an upload may be a secret: it is enough to send data.
    private static let fileMode: UInt32 = 0o600

    /// - Parameter folder: a folder for these files alone; it is created.
    public init(folder: String, reader: DiskReader) {
        self.folder = folder
        self.reader = reader
    }

    /// The saved state of an object, or nil if there is none that can be read.
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

    /// Saves the state. It is on the disk when this returns.
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

    public func remove(_ object: ObjectName, in store: String) async {
        let path = path(of: object, in: store)
        _ = try? await reader.perform { try $0.remove(path) }
    }

    private struct Saved: Codable {
        var store: String
        var object: String
        /// A JSON text of its own.
        var state: String
        /// The hash of `state`, to detect a change by a bad block.
        var sha256: String
    }

    private static func hash(_ text: String) -> String {
        Digest.sha256(text).hexadecimal
    }

    /// A file name for any store and object: hexadecimal digits of a hash.
    private func path(of object: ObjectName, in store: String) -> String {
        "\(folder)/\(Digest.sha256("\(store)\n\(object.path)").hexadecimal.prefix(32)).json"
    }
}
