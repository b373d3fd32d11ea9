import Upload

/// An XML element in the answers of S3 and WebDAV servers: elements and text. Attributes and name prefixes are ignored.
struct WebXML: Equatable {
    var name: String
    /// The text directly inside the element, with entities decoded.
    var text = ""
    var children: [WebXML] = []

    /// Reads a document; nil if it is malformed, has a document type, or has too many elements.
    init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes)
        guard let root = reader.document() else { return nil }
        self = root
    }

    private init(name: String) { self.name = name }

    /// The text of the first child with a name.
    subscript(_ name: String) -> String? { children.first { $0.name == name }?.text }

    func first(_ name: String) -> WebXML? { children.first { $0.name == name } }

    func all(_ name: String) -> [WebXML] { children.filter { $0.name == name } }

    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }

    private struct Reader {
        let bytes: [UInt8]
        var place = 0

        static let deepest = 16
        /// An element needs more memory than its few bytes. A folder of 10 000 files has 300 000 elements.
        static let mostElements = 500_000
        var elementCount = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        mutating func document() -> WebXML? {
            guard skipMisc(), let root = element(depth: 0), skipMisc(), place == bytes.count else { return nil }
            return root
        }

        /// Skips white space, declarations and comments. A server may send white space first while it works.
        private mutating func skipMisc() -> Bool {
            while true {
                while place < bytes.count, Self.isSpace(bytes[place]) { place += 1 }
                if take("<?") {
                    guard skip(past: "?>") else { return false }
                } else if take("<!--") {
                    guard skip(past: "-->") else { return false }
                } else {
                    return true
                }
            }
        }

        private mutating func element(depth: Int) -> WebXML? {
            guard depth < Self.deepest, elementCount < Self.mostElements, take("<"), let name = name() else {
                return nil
            }
            elementCount += 1
            var element = WebXML(name: name)
            guard let isEmpty = attributes() else { return nil }
            if isEmpty { return element }
            var text: [UInt8] = []
            while place < bytes.count {
                let byte = bytes[place]
                if byte != UInt8(ascii: "<"), byte != UInt8(ascii: "&") {
                    text.append(byte)
                    place += 1
                } else if take("</") {
                    guard self.name() == name else { return nil }
                    skipSpaces()
                    guard take(">"), let decoded = String(validating: text, as: UTF8.self) else { return nil }
                    element.text = decoded
                    return element
                } else if take("<!--") {
                    guard skip(past: "-->") else { return nil }
                } else if take("<![CDATA[") {
                    let start = place
                    guard skip(past: "]]>") else { return nil }
                    text += bytes[start..<(place - 3)]
                } else if byte == UInt8(ascii: "<") {
                    guard let child = self.element(depth: depth + 1) else { return nil }
                    element.children.append(child)
                } else {
                    place += 1
                    guard let decoded = entity() else { return nil }
                    text += decoded
                }
            }
            return nil
        }

        /// Skips to the end of a tag. Returns whether the tag also ends the element, or nil if the tag has no end.
        private mutating func attributes() -> Bool? {
            while place < bytes.count {
                if take("/>") { return true }
                if take(">") { return false }
                let byte = bytes[place]
                place += 1
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    guard let end = bytes[place...].firstIndex(of: byte) else { return nil }
                    place = end + 1
                } else if byte == UInt8(ascii: "<") {
                    return nil
                }
            }
            return nil
        }

        private mutating func name() -> String? {
            let start = place
            while place < bytes.count, !Self.isSpace(bytes[place]), !"<>/=&\"'".utf8.contains(bytes[place]) {
                place += 1
            }
            guard let name = String(validating: bytes[start..<place], as: UTF8.self), !name.isEmpty else { return nil }
            return name.split(separator: ":").last.map(String.init)
        }

        /// Decodes the entity after an ampersand.
        private mutating func entity() -> [UInt8]? {
            guard let end = bytes[place...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else { return nil }
            let name = String(decoding: bytes[place..<end], as: UTF8.self)
            place = end + 1
            switch name {
            case "amp": return Array("&".utf8)
            case "lt": return Array("<".utf8)
            case "gt": return Array(">".utf8)
            case "quot": return Array("\"".utf8)
            case "apos": return Array("'".utf8)
            default:
                let isHexadecimal = name.hasPrefix("#x")
                guard name.hasPrefix("#"),
                    let value = UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10),
                    let scalar = Unicode.Scalar(value)
                else { return nil }
                return Array(String(Character(scalar)).utf8)
            }
        }

        private mutating func skipSpaces() {
            while place < bytes.count, Self.isSpace(bytes[place]) { place += 1 }
        }

        private mutating func take(_ text: StaticString) -> Bool {
            let wanted = "\(text)".utf8
            guard bytes[place...].starts(with: wanted) else { return false }
            place += wanted.count
            return true
        }

        private mutating func skip(past text: StaticString) -> Bool {
            while place < bytes.count {
                if take(text) { return true }
                place += 1
            }
            return false
        }

        private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
    }
}
