import Takes
import Upload

/// What a WebDAV server says of one file or folder (RFC 4918, `DAV:response`).
struct WebDAVResource: Hashable, Sendable {
    /// The last part of its address, decoded; empty: the root.
    var file = ""
    var isFolder = false
    var byteCount: Int64?
    /// Its entity tag, without the mark of weak ones: Apache marks those of files that are younger than a second.
    var tag: String?
    /// As the server knows it from whoever sent it.
    var sha256: String?
    /// What this project stored with it.
    private var texts: [String: String] = [:]

    /// The namespace of what is stored with a take.
    static let namespace = "urn:fieldfare:take"
    /// Which content it was stored with. Another program that overwrites a file leaves such properties as they are (RFC 4918, 9.7.1).
    private static let tagKey = "etag"
    private static let metadataKeys = ["title", "started", "duration", "kit", "waveform", "sha256"]
    private static let dav = "DAV:"
    private static let ownCloud = "http://owncloud.org/ns"

    /// What was stored with it, if it is about its present content.
    var metadata: ObjectMetadata? {
        guard let tag, texts[Self.tagKey] == tag else { return nil }
        return ObjectMetadata(texts: texts)
    }

    /// The object that it is.
    func object(_ name: ObjectName) -> StoredObject {
        let metadata = metadata
        return StoredObject(
            name: name, byteCount: byteCount ?? 0,
            sha256: sha256 ?? metadata.flatMap { Self.isHash($0.sha256) ? $0.sha256 : nil }, metadata: metadata)
    }

    private static func isHash(_ text: String) -> Bool { text.utf8.count == 64 && text.allSatisfy(\.isHexDigit) }

    /// Asks for what is read here.
    static let request =
        #"<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:" xmlns:oc="\#(ownCloud)" xmlns:t="\#(namespace)"><prop>"#
        + "<resourcetype/><getcontentlength/><getetag/><oc:checksums/>"
        + (metadataKeys + [tagKey]).map { "<t:\($0)/>" }.joined() + "</prop></propfind>"

    /// Stores metadata with the content that has a tag.
    static func update(_ metadata: ObjectMetadata, tag: String) -> String {
        var texts = metadata.texts
        texts[tagKey] = tag
        let properties = texts.sorted { $0.key < $1.key }
            .map { "<t:\($0)>\(WebDAVXML.escaped($1))</t:\($0)>" }.joined()
        return
            #"<?xml version="1.0" encoding="utf-8"?><propertyupdate xmlns="DAV:" xmlns:t="\#(namespace)"><set><prop>"#
            + properties + "</prop></set></propertyupdate>"
    }

    /// Whether an answer says that all properties were stored.
    static func isStored(_ answer: [UInt8]) -> Bool {
        var statuses: [Int?] = []
        var path: [WebDAVXML.Name] = []
        var reader = WebDAVXML(answer)
        do {
            while let event = try reader.next() {
                switch event {
                case .start(let name): path.append(name)
                case .text(let text): if path.last == .init(dav, "status") { statuses.append(status(text)) }
                case .end: path.removeLast()
                }
            }
        } catch {
            return false
        }
        return !statuses.isEmpty && statuses.allSatisfy { $0 == 200 }
    }

    /// The code in `HTTP/1.1 200 OK`.
    private static func status(_ line: String) -> Int? {
        line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }

    /// Reads an answer to PROPFIND (RFC 4918, `DAV:multistatus`).
    static func read(_ answer: [UInt8]) throws(WebDAVXML.Malformed) -> [WebDAVResource] {
        var resources: [WebDAVResource] = []
        var path: [WebDAVXML.Name] = []
        var reader = WebDAVXML(answer)
        var href = ""
        // Of one `DAV:propstat`: the text of each property, and the elements in it.
        var properties: [WebDAVXML.Name: String] = [:]
        var marks: Set<WebDAVXML.Name> = []
        var code = ""
        var resource = WebDAVResource()
        let inProperties =
            [.init(dav, "multistatus"), .init(dav, "response"), .init(dav, "propstat"), .init(dav, "prop")]
            as [WebDAVXML.Name]
        while let event = try reader.next() {
            switch event {
            case .start(let name):
                path.append(name)
                if path == Array(inProperties.prefix(2)) {
                    resource = WebDAVResource()
                    href = ""
                }
                if path == Array(inProperties.prefix(3)) {
                    properties = [:]
                    marks = []
                    code = ""
                }
                if path.count == 6, path.starts(with: inProperties) { marks.insert(name) }
            case .text(let text):
                if path.starts(with: inProperties), path.count > 4 { properties[path[4], default: ""] += text }
                if path == inProperties.prefix(2) + [.init(dav, "href")] { href += text }
                if path == inProperties.prefix(3) + [.init(dav, "status")] { code += text }
            case .end:
                if path == Array(inProperties.prefix(3)), status(code) == 200 { resource.take(properties, marks) }
                if path == Array(inProperties.prefix(2)) {
                    let last = trimmed(href).split(separator: "/").last ?? ""
                    resource.file = WebDAVFolder.decoded(last) ?? ""
                    resources.append(resource)
                }
                path.removeLast()
            }
        }
        return resources
    }

    private mutating func take(_ properties: [WebDAVXML.Name: String], _ marks: Set<WebDAVXML.Name>) {
        if marks.contains(.init(Self.dav, "collection")) { isFolder = true }
        for (name, text) in properties {
            let text = Self.trimmed(text)
            switch (name.namespace, name.local) {
            case (Self.dav, "getcontentlength"): byteCount = Int64(text)
            case (Self.dav, "getetag"): tag = text.hasPrefix("W/") ? String(text.dropFirst(2)) : text
            case (Self.ownCloud, "checksums"):
                let sums = text.split(whereSeparator: \.isWhitespace).filter { $0.uppercased().hasPrefix("SHA256:") }
                sha256 = sums.first.map { $0.dropFirst(7).lowercased() }.flatMap { Self.isHash($0) ? $0 : nil }
            case (Self.namespace, let key): texts[key] = text
            default: break
            }
        }
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}
