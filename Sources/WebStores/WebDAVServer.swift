import Crypto
import FoundationEssentials
import Glibc
import NIOHTTP1
import Upload

/// Requests to a WebDAV server, and what its answers mean.
struct WebDAVServer: Sendable {
    let folder: WebDAVFolder
    private let web: Web
    private let authorization: Secret?
    private let credentialsFile: String

    /// - Throws: `StoreError`, `.refused`, if the password would go over a network unencrypted, or its file cannot be used.
    init(_ folder: WebDAVFolder, credentialsFile: String, web: Web) throws(StoreError) {
        self.folder = folder
        self.web = web
        self.credentialsFile = credentialsFile
        guard Self.isThere(credentialsFile) else {
            authorization = nil
            return
        }
        guard !folder.isPlain || folder.isLoopback else {
            throw StoreError(
                .refused,
                "outbox: \(folder.url): the password in \(credentialsFile) would be sent unencrypted: use https://, or remove "
                    + "that file if the server asks for no password")
        }
        let values = try SecretFile(credentialsFile).values("username", "password")
        guard !values[0].text.contains(":") else {
            throw StoreError(.refused, "outbox: \(credentialsFile): username: holds a colon, which HTTP does not allow")
        }
        let pair = Data("\(values[0].text):\(values[1].text)".utf8)
        authorization = Secret("Basic \(pair.base64EncodedString())")
    }

    /// Whether the file with the password, or the service's credential of its name, is there.
    private static func isThere(_ file: String) -> Bool {
        let name = String(file.split(separator: "/").last ?? "")
        let places = [file] + (SecretFile.credentialsDirectory.map { ["\($0)/\(name)"] } ?? [])
        return places.contains { unsafe access($0, F_OK) == 0 }
    }

    func close() async { await web.close() }

    /// Sends a request and waits for the head of the answer.
    func send(
        _ method: HTTPMethod, _ place: WebDAVFolder, headers: [(String, String)] = [], body: Web.Body = .none
    ) async throws -> Web.Answer {
        var all = HTTPHeaders(headers)
        all.add(name: "User-Agent", value: "fieldfare")
        if let authorization { all.add(name: "Authorization", value: authorization.text) }
        return try await web.send(method, place.url, headers: all, body: body, subject: place.url)
    }

    /// Sends a request, and reads an answer whose body does not matter.
    func order(
        _ method: HTTPMethod, _ place: WebDAVFolder, headers: [(String, String)] = [], body: Web.Body = .none
    ) async throws -> Web.Answer {
        let answer = try await send(method, place, headers: headers, body: body)
        // A server says little here. What is longer only costs the connection.
        _ = try? await answer.bytes(limit: 1 << 16)
        try Task.checkCancellation()
        return answer
    }

    /// What the server says of a file or a folder, or of all that is in a folder.
    /// - Returns: nil: there is no such thing.
    func find(_ place: WebDAVFolder, depth: Int = 0) async throws -> [WebDAVResource]? {
        let answer = try await send(
            .PROPFIND, depth == 0 ? place : place.asFolder,
            headers: [("Depth", "\(depth)"), ("Content-Type", "application/xml; charset=utf-8")],
            body: .bytes(Array(WebDAVResource.request.utf8)))
        let bytes = try await answer.bytes(limit: 1 << 24)
        switch answer.status {
        case 207:
            do {
                return try WebDAVResource.read(bytes)
            } catch {
                throw StoreError(.refused, "outbox: \(place.url): its answer to PROPFIND is no XML of WebDAV")
            }
        case 404: return nil
        case 200..<300: throw noFolder(answer.status)
        default: throw problem(answer, "PROPFIND", place)
        }
    }

    /// Reads a file.
    func read(_ place: WebDAVFolder, _ receive: ([UInt8]) async throws -> Void) async throws {
        let answer = try await send(.GET, place, headers: [("Cache-Control", "no-cache")])
        guard answer.status == 200 else {
            _ = try? await answer.bytes(limit: 1 << 16)
            if answer.status == 404 { throw StoreError(.missing, "outbox: \(place.url): there is no such file") }
            throw problem(answer, "GET", place)
        }
        try await answer.read(receive)
    }

    /// The hash of a file as the server hands it out now, hexadecimal.
    func digest(of place: WebDAVFolder) async throws -> String {
        var hash = SHA256()
        try await read(place) { hash.update(data: $0) }
        return UploadSource.hexadecimal(hash.finalize())
    }

    /// Deletes a file or a folder, if it is there.
    func delete(_ place: WebDAVFolder) async throws {
        let answer = try await order(.DELETE, place)
        guard (200..<300).contains(answer.status) || answer.status == 404 else {
            throw problem(answer, "DELETE", place)
        }
    }

    private func noFolder(_ status: Int) -> StoreError {
        StoreError(
            .refused, "outbox: \(folder.url): is no WebDAV folder: it answers \(status): see [outbox.webdav] url")
    }

    /// What an answer means that was not expected.
    func problem(_ answer: Web.Answer, _ method: String, _ place: WebDAVFolder) -> StoreError {
        let status = answer.status
        let subject = "outbox: \(place.url)"
        switch status {
        case 300..<400:
            // What follows a question mark may be of one session alone.
            let target = answer.headers.first(name: "location")?.prefix { $0 != "?" } ?? "another place"
            return StoreError(
                .refused, "\(subject): the server points to \(target): set [outbox.webdav] url to the right place")
        case 401: return StoreError(.refused, "\(subject): \(unauthorized(answer.headers))")
        case 403:
            let user = authorization == nil ? "without a password" : "to the user in \(credentialsFile)"
            return StoreError(.refused, "\(subject): \(method) is forbidden \(user): see the user's rights there")
        case 404, 409:
            return StoreError(
                .refused, "\(subject): \(method): a folder is missing (\(status)): see [outbox.webdav] url")
        case 405, 501: return noFolder(status)
        case 413: return StoreError(.full, "\(subject): the server takes no file of this length: raise its limit")
        case 507:
            return StoreError(
                .full, "\(subject): no space is left for this user: delete files there, or raise the quota")
        case 423, 429, 500...:
            let wait = answer.headers.first(name: "retry-after").flatMap { Int64($0) }
            return StoreError(
                .busy(wait.map { .seconds(max(0, $0)) }), "\(subject): \(method) fails for now: it answers \(status)")
        default: return StoreError(.refused, "\(subject): \(method) is refused: it answers \(status)")
        }
    }

    private func unauthorized(_ headers: HTTPHeaders) -> String {
        let offers = headers["www-authenticate"]
        if !offers.isEmpty, !offers.contains(where: { $0.lowercased().contains("basic") }) {
            return "the server wants another way to sign in than Basic: allow Basic there"
        }
        return authorization == nil
            ? "asks for a password: write username = … and password = … into \(credentialsFile), mode 600"
            : "the username or the password in \(credentialsFile) is wrong"
    }
}
