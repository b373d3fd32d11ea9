import FoundationEssentials
public import Settings
import Takes
public import Upload

/// A folder on a WebDAV server (RFC 4918), with a folder for each day in it.
public struct WebDAVStore: Store {
    /// `webdav:https://cloud.example.org/remote.php/dav/files/kit/recordings`
    public let name: String
    let server: WebDAVServer
    let resume: ResumeStates
    /// Those of days that are there for sure.
    let folders = Locked<Set<String>>([])

    var base: WebDAVFolder { server.folder }

    /// A store as the settings say. Nothing is sent yet.
    /// - Throws: `StoreError`, `.refused`, if the URL or the file with the password cannot be used.
    public init(_ settings: Settings.Outbox.WebDAV, web: Web, resume: ResumeStates) throws(StoreError) {
        guard let url = settings.url else { throw StoreError(.refused, "outbox: [outbox.webdav] url: is missing") }
        let folder = try WebDAVFolder(url)
        name = Self.name(of: folder)
        server = try WebDAVServer(folder, credentialsFile: settings.credentialsFile, web: web)
        self.resume = resume
    }

    static func name(of folder: WebDAVFolder) -> String { "webdav:\(folder.url)" }

    func place(of object: ObjectName) -> WebDAVFolder { base[object.day, object.file] }

    /// What is known of an object; nil: there is none.
    public func head(_ object: ObjectName) async throws -> StoredObject? {
        guard let found = try await server.find(place(of: object))?.first, !found.isFolder else { return nil }
        return found.object(object)
    }

    /// All objects, a day at a time.
    public func list(_ receive: ([StoredObject]) async throws -> Void) async throws {
        for day in try await server.find(base, depth: 1) ?? [] where day.isFolder && TakeName.isDay(day.file) {
            let objects = (try await server.find(base[day.file], depth: 1) ?? []).compactMap { found in
                found.isFolder ? nil : ObjectName(path: "\(day.file)/\(found.file)").map { found.object($0) }
            }
            if !objects.isEmpty { try await receive(objects) }
        }
    }

    /// Reads an object.
    public func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        try await server.read(place(of: object), receive)
    }

    /// Deletes an object, if it is there.
    public func delete(_ object: ObjectName) async throws { try await server.delete(place(of: object)) }

    /// Closes its connections.
    public func close() async { await server.close() }
}
