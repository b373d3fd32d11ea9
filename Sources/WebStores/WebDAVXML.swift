/// Reads the XML of WebDAV answers: elements with their namespaces, and text. Attributes are read for the namespaces they declare.
///
/// XML 1.0 and Namespaces in XML 1.0, UTF-8 only. A document type is refused, so there are no entities but the five of XML itself.
struct WebDAVXML {
    /// A name with the namespace that its prefix stands for.
    struct Name: Hashable, Sendable {
        var namespace: String
        var local: String

        init(_ namespace: String, _ local: String) {
            self.namespace = namespace
            self.local = local
        }
    }

    enum Event: Hashable {
        case start(Name)
        case text(String)
        case end(Name)
    }

    /// What is wrong with a document.
    struct Malformed: Error {
        var offset: Int
    }

    private let bytes: [UInt8]
    private var position = 0
    private var open: [Open] = []
    /// The end of an element without content, which comes with the next call.
    private var pendingEnd: Name?
    private var hasRoot = false

    private struct Open {
        var raw: [UInt8]
        var name: Name
        var namespaces: [String: String]
    }

    private static let deepest = 64

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
    }

    /// The next piece of the document; nil: its end.
    mutating func next() throws(Malformed) -> Event? {
        if let name = pendingEnd {
            pendingEnd = nil
            return .end(name)
        }
        while position < bytes.count {
            if bytes[position] != UInt8(ascii: "<") {
                let text = try text()
                if !open.isEmpty { return .text(text) }
                guard text.utf8.allSatisfy(Self.isSpace) else { throw malformed }
            } else if skips("<?") {
                try pass("?>")
            } else if skips("<!--") {
                try pass("-->")
            } else if skips("<![CDATA[") {
                guard !open.isEmpty else { throw malformed }
                let start = position
                try pass("]]>")
                return .text(try string(start..<position - 3))
            } else if skips("</") {
                return .end(try end())
            } else if position + 1 < bytes.count, bytes[position + 1] != UInt8(ascii: "!") {
                return .start(try start())
            } else {
                throw malformed
            }
        }
        guard open.isEmpty, hasRoot else { throw malformed }
        return nil
    }

    private var malformed: Malformed { Malformed(offset: position) }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }

    private mutating func skips(_ token: StaticString) -> Bool {
        let token = Array(token.description.utf8)
        guard bytes[position...].starts(with: token) else { return false }
        position += token.count
        return true
    }

    private mutating func pass(_ token: StaticString) throws(Malformed) {
        while position < bytes.count {
            if skips(token) { return }
            position += 1
        }
        throw malformed
    }

    private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    private func string(_ range: Range<Int>) throws(Malformed) -> String {
        guard let text = String(validating: bytes[range], as: UTF8.self) else { throw malformed }
        return text
    }

    private mutating func text() throws(Malformed) -> String {
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "<") { position += 1 }
        return try resolved(start..<position)
    }

    private mutating func end() throws(Malformed) -> Name {
        let raw = try rawName()
        skipSpace()
        guard skips(">"), let last = open.popLast(), last.raw == raw else { throw malformed }
        return last.name
    }

    private mutating func start() throws(Malformed) -> Name {
        guard open.count < Self.deepest, !(hasRoot && open.isEmpty) else { throw malformed }
        position += 1
        let raw = try rawName()
        var namespaces = open.last?.namespaces ?? ["": "", "xml": "http://www.w3.org/XML/1998/namespace"]
        while true {
            let before = position
            skipSpace()
            guard position < bytes.count else { throw malformed }
            let isEmpty = skips("/>")
            if isEmpty || skips(">") {
                let name = try name(raw, in: namespaces)
                hasRoot = true
                if isEmpty {
                    pendingEnd = name
                } else {
                    open.append(Open(raw: raw, name: name, namespaces: namespaces))
                }
                return name
            }
            guard position > before else { throw malformed }
            let attribute = try attribute()
            if attribute.name == "xmlns" { namespaces[""] = attribute.value }
            if attribute.name.hasPrefix("xmlns:") { namespaces[String(attribute.name.dropFirst(6))] = attribute.value }
        }
    }

    private mutating func attribute() throws(Malformed) -> (name: String, value: String) {
        let raw = try rawName()
        skipSpace()
        guard skips("=") else { throw malformed }
        skipSpace()
        guard position < bytes.count else { throw malformed }
        let quote = bytes[position]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw malformed }
        position += 1
        let start = position
        while position < bytes.count, bytes[position] != quote {
            guard bytes[position] != UInt8(ascii: "<") else { throw malformed }
            position += 1
        }
        guard position < bytes.count else { throw malformed }
        let value = try resolved(start..<position)
        position += 1
        return (String(decoding: raw, as: UTF8.self), value)
    }

    private mutating func rawName() throws(Malformed) -> [UInt8] {
        let start = position
        while position < bytes.count, Self.isName(bytes[position]) { position += 1 }
        guard position > start else { throw malformed }
        _ = try string(start..<position)
        return Array(bytes[start..<position])
    }

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: ":"), 0x80...:
            true
        default: false
        }
    }

    private func name(_ raw: [UInt8], in namespaces: [String: String]) throws(Malformed) -> Name {
        let parts = raw.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let prefix = parts.count == 2 ? parts[0] : ""
        guard parts.count <= 2, let local = parts.last, !local.isEmpty, let namespace = namespaces[prefix] else {
            throw malformed
        }
        return Name(namespace, local)
    }

    /// Text with its references replaced.
    private func resolved(_ range: Range<Int>) throws(Malformed) -> String {
        let text = try string(range)
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var result = ""
        var rest = Substring(text)
        while let mark = rest.firstIndex(of: "&") {
            result += rest[..<mark]
            guard let last = rest[mark...].firstIndex(of: ";"),
                let character = Self.character(rest[rest.index(after: mark)..<last])
            else { throw malformed }
            result.unicodeScalars.append(character)
            rest = rest[rest.index(after: last)...]
        }
        return result + rest
    }

    private static func character(_ reference: Substring) -> Unicode.Scalar? {
        switch reference {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard reference.hasPrefix("#") else { return nil }
            let isHexadecimal = reference.hasPrefix("#x")
            let digits = reference.dropFirst(isHexadecimal ? 2 : 1)
            return UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap { Unicode.Scalar($0) }
        }
    }

    /// A text as an element's content.
    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
    }
}
