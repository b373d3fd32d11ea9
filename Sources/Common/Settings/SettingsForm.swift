/// The settings file as a form: every known key, its allowed values and its value in the file.
public struct SettingsForm: Encodable, Sendable {
    /// In the order of the schema.
    public var sections: [Section]
    /// The problems of the file, one sentence each.
    public var problems: [String]

    public struct Section: Encodable, Sendable {
        /// Its dotted name.
        public var name: String
        public var keys: [Entry]
    }

    public struct Entry: Encodable, Sendable {
        /// Its name within the section.
        public var key: String
        /// The purpose and the default, two sentences.
        public var purpose: String
        /// The alternatives, for people.
        public var allowed: [String]
        /// The allowed words, or nil if other values are also allowed.
        public var values: [String]?
        /// The value in the file, or nil if the file lacks the key and the default is in force.
        public var value: SettingsValue?
        /// The value in force: that of the file if it is valid, or else the default. Nil if the key has no value then.
        public var inForce: SettingsValue?
        /// The default. Nil if the key has none, or if it differs between kits.
        public var standard: SettingsValue?
        /// The least allowed number, or nil if no number is allowed.
        public var least: Double?
        /// The greatest allowed number, or nil if no number is allowed.
        public var most: Double?
        /// The problem with the value in the file, without its place, or nil.
        public var problem: String?
        /// Whether a phone may change it.
        public var changeable: Bool

        enum CodingKeys: String, CodingKey {
            case key, purpose, allowed, values, value, least, most, problem, changeable
            case inForce = "in_force"
            case standard = "default"
        }
    }

    public init(_ text: String, file: String) {
        let bytes = Array(text.utf8)
        let found = (try? TOMLDocument(bytes)).map(SettingsValue.values) ?? [:]
        let faults = Settings.parse(text, file: file).problems
        let inForce = SettingsInForce(bytes, faults, file: file)
        problems = faults.map(\.description)
        var sections: [Section] = []
        for (name, assignment) in SettingsSchema.assignments {
            let parts = name.split(separator: ".").map(String.init)
            let section = parts.dropLast().joined(separator: ".")
            let words = assignment.allowed.compactMap(Self.word)
            let entry = Entry(
                key: parts.last ?? "", purpose: "\(assignment.purpose). Default: \(assignment.standard)",
                allowed: assignment.allowed,
                values: words.count == assignment.allowed.count ? words : nil, value: found[parts]?.withoutPassword,
                inForce: (try? inForce.value(of: name))?.withoutPassword, standard: assignment.standard.value,
                least: assignment.limits?.lowerBound, most: assignment.limits?.upperBound,
                problem: faults.first { $0.isAbout(name) }?.message, changeable: assignment.hand != .file)
            if sections.last?.name != section { sections.append(Section(name: section, keys: [])) }
            sections[sections.count - 1].keys.append(entry)
        }
        self.sections = sections
    }

    /// A word, a Boolean or a number that is one allowed value, or nil if the text describes several values.
    private static func word(_ allowed: String) -> String? {
        if allowed.first == "\"", allowed.last == "\"" {
            // Capital letters are a placeholder.
            return allowed.contains(where: \.isUppercase) ? nil : String(allowed.dropFirst().dropLast())
        }
        return allowed == "true" || allowed == "false" || Int(allowed) != nil ? allowed : nil
    }
}

public enum SettingsValue: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    case list([SettingsValue])
    case table([String: SettingsValue])
}

extension SettingsValue {
    /// The value for display, with a password in a server's address replaced. It is never written to the file.
    var withoutPassword: SettingsValue {
        guard case .text(let text) = self, let scheme = text.firstRange(of: "://") else { return self }
        let server = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = server.lastIndex(of: "@"), let colon = server[..<at].firstIndex(of: ":") else { return self }
        return .text(text[...colon] + "…" + text[at...])
    }
}

extension SettingsValue: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        // JSON has neither infinities nor NaN, and TOML has both.
        case .real(let value) where !value.isFinite: try container.encode("\(value)")
        case .real(let value): try container.encode(value)
        case .boolean(let value): try container.encode(value)
        case .list(let values): try container.encode(values)
        case .table(let members): try container.encode(members)
        }
    }
}

extension SettingsValue {
    /// The value in TOML 1.0 syntax, on one line.
    public var toml: String {
        switch self {
        case .text(let text): Self.string(text)
        case .integer(let number): String(number)
        case .real(let number): "\(number)"
        case .boolean(let value): value ? "true" : "false"
        case .list(let values): "[" + values.map(\.toml).joined(separator: ", ") + "]"
        case .table(let members):
            "{ "
                + members.sorted { $0.key < $1.key }.map { "\(Self.string($0.key)) = \($0.value.toml)" }
                .joined(separator: ", ") + " }"
        }
    }

    private static func string(_ text: String) -> String {
        var escaped = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                let digits = String(scalar.value, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped + "\""
    }

    /// The values of a file's keys, by path. A table that is written as a value is one entry.
    static func values(_ document: TOMLDocument) -> [[String]: SettingsValue] {
        var found: [[String]: SettingsValue] = [:]
        func collect(_ node: Int, _ path: [String]) {
            for child in document.children(of: node) {
                let path = path + [document.nodes[child].key]
                found[path] = value(child, document)
                if document.nodes[child].value == .table { collect(child, path) }
            }
        }
        collect(0, [])
        return found
    }

    private static func value(_ node: Int, _ document: TOMLDocument) -> SettingsValue? {
        switch document.nodes[node].value {
        case .string(let text): .text(text)
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .boolean(let value): .boolean(value)
        case .array: .list(document.children(of: node).compactMap { value($0, document) })
        case .table:
            .table(
                document.children(of: node).reduce(into: [:]) { $0[document.nodes[$1].key] = value($1, document) })
        case .date: nil
        }
    }
}
