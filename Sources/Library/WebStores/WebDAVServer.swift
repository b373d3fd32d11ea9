import FoundationEssentials
import Glibc
import NIOHTTP1
import Settings
import Upload

/// Requests to a WebDAV server, and the errors for its answers.
struct WebDAVServer: Sendable {
    let folder: WebDAVAddress
    private let web: Web
    private let authorization: Secret?
    /// The password file named in sentences.
    private let credentialsPath: String

    /// - Throws: `.refused` if the password would cross a network unencrypted, or if the settings or the password file
    ///   cannot be used.
    init(_ settings: Settings.Outbox.WebDAV, web: Web) throws(StoreError) {
        folder = try WebDAVAddress(settings)
        self.web = web
        guard Self.isThere(settings.credentialsFile) else {
            credentialsPath = settings.credentialsFile
            authorization = nil
            return
        }
        let file = try SecretFile(settings.credentialsFile)
        credentialsPath = file.path
        try Web.check(
            folder.url, called: folder.url, for: "the password in \(file.path)",
            advice: ", or remove that file if the server asks for no password")
        try file.checkHost(of: folder.url)
        let values = try file.values("username", "password")
        guard !values[0].text.contains(":") else {
            throw StoreError(.refused, "outbox: \(file.path): username holds a colon, which HTTP does not allow")
        }
        let pair = Data("\(values[0].text):\(values[1].text)".utf8)
        authorization = Secret("Basic \(pair.base64EncodedString())")
    }

    /// Whether the password file exists, as a file or as the service's credential. Some servers require no password.
    private static func isThere(_ file: String) -> Bool {
        let name = String(file.split(separator: "/").last ?? "")
        let places = [file] + (SecretFile.credentialsDirectory.map { ["\($0)/\(name)"] } ?? [])
        // A file that cannot be accessed counts as existing, so that reading it gives the reason.
        return places.contains { unsafe access($0, F_OK) == 0 || errno != ENOENT }
    }

    func close() async { await web.close() }

    /// Sends a request, and waits for the head of the answer.
    private func send(
        _ method: HTTPMethod, _ place: WebDAVAddress, headers: [(String, String)] = [], body: Web.Body = .none
    ) async throws -> Web.Answer {
        var all = HTTPHeaders(headers)
        if let authorization { all.add(name: "Authorization", value: authorization.text) }
        return try await web.send(method, place.url, headers: all, body: body, subject: place.url)
    }

    /// Sends a request, and discards the answer's body.
    func order(
        _ method: HTTPMethod, _ place: WebDAVAddress, headers: [(String, String)] = [], body: Web.Body = .none
    ) async throws -> Web.Answer {
        let answer = try await send(method, place, headers: headers, body: body)
        _ = try? await answer.bytes(limit: 1 << 16)
        try Task.checkCancellation()
        return answer
    }

    /// The properties of a file or folder, or nil if it does not exist.
    func find(_ place: WebDAVAddress) async throws -> WebDAVResource? {
        try await resources(place, depth: 0)?.first
    }

    /// The properties of a folder's contents, or nil if the folder does not exist.
    func contents(of folder: WebDAVAddress) async throws -> [WebDAVResource]? {
        try await resources(folder.asFolder, depth: 1)
    }

    private func resources(_ place: WebDAVAddress, depth: Int) async throws -> [WebDAVResource]? {
        let answer = try await send(
            .PROPFIND, place, headers: [("Depth", "\(depth)"), ("Content-Type", "application/xml; charset=utf-8")],
            body: .bytes(WebDAVResource.request))
        guard answer.status == 207 else {
            _ = try? await answer.bytes(limit: 1 << 16)
            try Task.checkCancellation()
            if answer.status == 404 { return nil }
            throw problem(answer, "PROPFIND", place).whereForbiddenHidden(answer)
        }
        guard let found = WebDAVResource.read(try await answer.bytes(limit: 1 << 24)) else {
            throw StoreError(.refused, "outbox: \(place.url): its answer to PROPFIND is not WebDAV's: see its server")
        }
        return found
    }

    func read(_ place: WebDAVAddress, _ receive: ([UInt8]) async throws -> Void) async throws {
        // A proxy must not answer from its cache.
        let answer = try await send(.GET, place, headers: [("Cache-Control", "no-cache")])
        guard answer.status == 200 else {
            _ = try? await answer.bytes(limit: 1 << 16)
            try Task.checkCancellation()
            if answer.status == 404 { throw StoreError(.missing, "outbox: \(place.url): no such file") }
            throw problem(answer, "GET", place).whereForbiddenHidden(answer)
        }
        try await answer.read(receive)
    }

    /// The hash of a file that is read back, in hexadecimal.
    /// - Parameter byteCount: the length that the server states; no more is read.
    /// - Throws: also `.damaged` if the file is longer.
    func sha256(of place: WebDAVAddress, byteCount: Int64) async throws -> String {
        var hash = BoundedHash(byteCount: byteCount)
        try await read(place) { try hash.update($0, of: "outbox: \(place.url)") }
        return hash.text
    }

    /// The result of a rename or copy.
    enum Moved {
        case done
        /// Another file has the name and must not be overwritten.
        case taken
        /// The source is gone. An earlier request may have moved it before it was repeated.
        case gone
        /// The server does not know the method.
        case unknown
    }

    /// Renames or copies a file.
    /// - Parameter method: MOVE or COPY.
    func move(
        _ place: WebDAVAddress, to destination: WebDAVAddress, overwrites: Bool, by method: HTTPMethod = .MOVE
    ) async throws -> Moved {
        var answer = try await order(method, place, headers: destination.headers(overwrites, destination.url))
        if answer.status == 400 || answer.status == 502 {
            // Behind a proxy, a server may know itself by another scheme or host. A path alone avoids this (RFC 4918,
            // 10.3).
            answer = try await order(method, place, headers: destination.headers(overwrites, destination.path))
        }
        switch answer.status {
        case 200, 201, 204: return .done
        case 412 where !overwrites: return .taken
        case 404: return .gone
        case 405, 501: return .unknown
        default: throw problem(answer, method.rawValue, place)
        }
    }

    /// Deletes a file or folder, if it exists.
    func delete(_ place: WebDAVAddress) async throws {
        let answer = try await order(.DELETE, place)
        guard answer.isDone || answer.status == 404 else { throw problem(answer, "DELETE", place) }
    }

    /// Stores metadata for the content with this tag.
    /// - Returns: false if the server does not store metadata.
    func store(_ metadata: ObjectMetadata, tag: String, with place: WebDAVAddress) async throws -> Bool {
        let answer = try await send(
            .PROPPATCH, place, headers: [("Content-Type", "application/xml; charset=utf-8")],
            body: .bytes(WebDAVResource.update(metadata, tag: tag)))
        let bytes = try await answer.bytes()
        return answer.status == 207 && WebDAVResource.isStored(bytes)
    }
}

extension WebDAVAddress {
    fileprivate func headers(_ overwrites: Bool, _ destination: String) -> [(String, String)] {
        [("Destination", destination), ("Overwrite", overwrites ? "T" : "F")]
    }
}

extension Web.Answer {
    /// Status 207 of a modifying request lists the parts that failed (RFC 4918, 9.6.1).
    var isDone: Bool { (200..<300).contains(status) && status != 207 }
}

extension StoreError {
    /// A user who may not read may still be allowed to send.
    fileprivate func whereForbiddenHidden(_ answer: Web.Answer) -> StoreError {
        answer.status == 403 ? StoreError(.hidden, sentence) : self
    }
}

extension WebDAVServer {
    /// The error for an unexpected answer.
    func problem(_ answer: Web.Answer, _ method: String, _ place: WebDAVAddress) -> StoreError {
        let status = answer.status
        let subject = "outbox: \(place.url)"
        switch status {
        case 300..<400:
            return StoreError(
                .refused,
                "outbox: \(folder.url): is at another address, \(target(answer.headers, place)): correct url in [outbox.webdav]"
            )
        case 401: return StoreError(.refused, "outbox: \(folder.url): \(unauthorized(answer.headers))")
        case 403:
            let user = authorization == nil ? "without a password" : "to the user in \(credentialsPath)"
            return StoreError(
                .refused, "\(subject): \(method) is forbidden \(user): see which rights there are to this folder")
        case 404, 409:
            return StoreError(
                .refused, "\(subject): \(method) finds no folder (\(status)): see url in [outbox.webdav]")
        case 405, 501, 200..<300:
            return StoreError(
                .refused,
                "outbox: \(folder.url): is not a WebDAV folder (\(method) gives \(status)): correct url in [outbox.webdav]"
            )
        case 413:
            return StoreError(
                .rejected, "\(subject): the server does not take files of this length: raise its limit for requests")
        case 507:
            return StoreError(.full, "\(subject): no space is left for this user: delete files there, or get more")
        case 408, 423, 429, 500...:
            let wait = answer.headers.first(name: "retry-after").flatMap { Int64($0) }
            return StoreError(
                .busy(wait.map { .seconds(max(0, min($0, 86_400))) }),
                "\(subject): is \(status == 423 ? "locked" : "busy, or fails") for the moment (\(method) gives \(status))"
            )
        default: return StoreError(.refused, "\(subject): \(method) is refused (\(status))")
        }
    }

    /// The error if nothing protects other files from being overwritten.
    var overwriting: StoreError {
        let advice =
            authorization == nil ? "allow reading there" : "give the user in \(credentialsPath) the right to read there"
        return StoreError(
            .refused,
            "outbox: \(folder.url): neither shows what is there nor knows If-None-Match, so that a file could be overwritten: "
                + advice)
    }

    /// The target of a redirection; for a file in the folder, the redirected folder. The query and the user before an @
    /// are left out because they may be secret.
    private func target(_ headers: HTTPHeaders, _ place: WebDAVAddress) -> String {
        let location = (headers.first(name: "location") ?? "").prefix { $0 != "?" && $0 != "#" }
        var parts = location.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        if parts.count > 2, let host = parts[2].split(separator: "@").last { parts[2] = host }
        var text = parts.joined(separator: "/").filter { $0.isASCII && $0 > " " && $0 != "\u{7f}" }
        let rest = place.path.dropFirst(folder.path.count)
        if text.hasSuffix(rest) { text.removeLast(rest.count) }
        return text.isEmpty ? "which it does not name" : String(text.prefix(300))
    }

    private func unauthorized(_ headers: HTTPHeaders) -> String {
        let offers = headers["www-authenticate"]
        if !offers.isEmpty, !offers.contains(where: { $0.lowercased().contains("basic") }) {
            return "the server does not offer Basic authentication: allow it there"
        }
        return authorization == nil
            ? "asks for a password: write username = … and password = … into \(credentialsPath), mode 600"
            : "the username or the password in \(credentialsPath) is wrong"
    }
}
