import Upload

/// A WebDAV server's description of one file or folder (RFC 4918, `DAV:response`).
struct WebDAVResource: Hashable, Sendable {
    /// The last part of its address, decoded; empty for the root.
    var file = ""
    var isFolder = false
    var byteCount: Int64?
    /// The entity tag without the mark of weak tags. Apache marks the tags of files younger than a second as weak.
    var tag: String?
    /// Hashes by kind (`SHA1`) in hexadecimal, as ownCloud computes them. Nextcloud repeats the client's statement.
    /// That proves the content only for files sent by this project, which states none.
    var checksums: [String: String] = [:]
    /// The metadata that this project stored with it.
    private var texts: [String: String] = [:]

    /// The namespace of the metadata of a take's files.
    private static let namespace = "urn:fieldfare:take"
    /// The tag of the content that the metadata belong to. If another program overwrites a file, its properties stay
    /// (RFC 4918, 9.7.1).
    private static let tagKey = "etag"
    private static let keys = ["title", "started", "duration", "kit", "waveform", "sha256", tagKey]

    /// The stored metadata, if they belong to the present content.
    var metadata: ObjectMetadata? {
        guard let tag, texts[Self.tagKey] == tag else { return nil }
        return ObjectMetadata(texts: texts)
    }

    /// The object of this resource. Its metadata were stored only after its hash was verified.
    func object(_ name: ObjectName) -> StoredObject {
        let metadata = metadata
        let sha256 = metadata.flatMap { $0.sha256.isEmpty ? nil : $0.sha256 }
        return StoredObject(name: name, byteCount: byteCount ?? 0, sha256: sha256, metadata: metadata)
    }

    /// The body of a PROPFIND request for these properties.
    static let request = Array(
        (#"<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:" xmlns:oc="http://owncloud.org/ns" "#
            + #"xmlns:t="\#(namespace)"><prop><resourcetype/><getcontentlength/><getetag/><oc:checksums/>"#
            + keys.map { "<t:\($0)/>" }.joined() + "</prop></propfind>").utf8)

    /// The body that stores metadata for the content with this tag.
    static func update(_ metadata: ObjectMetadata, tag: String) -> [UInt8] {
        var texts = metadata.texts
        texts[tagKey] = tag
        let properties = texts.sorted { $0.key < $1.key }.map { "<t:\($0)>\(WebXML.escaped($1))</t:\($0)>" }
        return Array(
            (#"<?xml version="1.0" encoding="utf-8"?><propertyupdate xmlns="DAV:" xmlns:t="\#(namespace)"><set><prop>"#
                + properties.joined() + "</prop></set></propertyupdate>").utf8)
    }

    /// Whether the answer states that all properties were stored.
    static func isStored(_ answer: [UInt8]) -> Bool {
        let statuses = WebXML(answer)?.all("response").flatMap { $0.all("propstat") }.map { status($0["status"]) } ?? []
        return !statuses.isEmpty && statuses.allSatisfy { $0 == 200 }
    }

    /// Reads an answer to PROPFIND (RFC 4918, `DAV:multistatus`); nil if it is malformed.
    static func read(_ answer: [UInt8]) -> [WebDAVResource]? {
        guard let document = WebXML(answer), document.name == "multistatus" else { return nil }
        return document.all("response").compactMap(WebDAVResource.init)
    }

    /// Nil if the response has no properties.
    private init?(_ response: WebXML) {
        let found = response.all("propstat").filter { Self.status($0["status"]) == 200 }.compactMap { $0.first("prop") }
        guard !found.isEmpty else { return nil }
        let last = Self.trimmed(response["href"] ?? "").split(separator: "/").last.map(String.init)
        file = last.flatMap { PercentCoding.decoded($0) } ?? ""
        for property in found.flatMap(\.children) {
            let text = Self.trimmed(property.text)
            switch property.name {
            case "resourcetype": isFolder = property.first("collection") != nil
            case "getcontentlength": byteCount = Int64(text)
            case "getetag": tag = text.hasPrefix("W/") ? String(text.dropFirst(2)) : text
            case "checksums":
                for sum in property.all("checksum").flatMap({ $0.text.split(whereSeparator: \.isWhitespace) }) {
                    let parts = sum.split(separator: ":")
                    if parts.count == 2 { checksums[parts[0].uppercased()] = parts[1].lowercased() }
                }
            case let key where Self.keys.contains(key): texts[key] = text
            default: break
            }
        }
    }

    /// The code in `HTTP/1.1 200 OK`.
    private static func status(_ line: String?) -> Int? {
        line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}
