/// One known key of a table: its name, where its value goes, and what it may be; or a section with keys of its own.
struct Key<Root>: Sendable {
    let name: String
    let role: Role

    enum Role: Sendable {
        case value(Assignment)
        case section([Key])
    }

    /// How a key's value reaches what is read.
    struct Assignment: Sendable {
        let path: any PartialKeyPath<Root> & Sendable
        /// Each thing that is allowed, for people.
        let allowed: [String]
        /// What it is for.
        let purpose: String
        /// What is in force where the file does not name it.
        let standard: KeyDefault
        /// Who may change it.
        let hand: SettingsHand
        /// Reads the node; false: what it says is not in force.
        let read: @Sendable (_ node: Int, inout Root, inout SettingsReader) -> Bool
        /// Takes the value from another root.
        let copy: @Sendable (inout Root, _ from: Root) -> Void
    }

    /// A key whose value goes to `path`.
    init<Value>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ form: Form<Value>,
        _ purpose: String = "", default standard: KeyDefault = .none, changed hand: SettingsHand = .phone
    ) {
        self.name = name
        role = .value(
            Assignment(
                path: path, allowed: form.allowed, purpose: purpose, standard: standard, hand: hand,
                read: { node, root, reader in
                    switch form.read(node, &reader) {
                    case .understood(let value):
                        root[keyPath: path] = value
                        return true
                    case .refused:
                        reader.report(node, "found \(reader.found(node)): \(permission(of: form.allowed))")
                    case .reported: break
                    }
                    if let misread = form.misread {
                        root[keyPath: path] = misread
                    }
                    return false
                },
                copy: { $0[keyPath: path] = $1[keyPath: path] }))
    }

    /// A section.
    init(_ name: String, @KeyList<Root> _ keys: () -> [Key]) {
        self.name = name
        role = .section(keys())
    }

    /// The key's own assignment, or those below it, each with its dotted name.
    func assignments(below section: [String] = []) -> [(name: String, assignment: Assignment)] {
        switch role {
        case .value(let assignment): [(dotted(section + [name]), assignment)]
        case .section(let keys): keys.flatMap { $0.assignments(below: section + [name]) }
        }
    }
}

/// What is in force where a file does not name a key.
enum KeyDefault: ExpressibleByStringLiteral, CustomStringConvertible {
    /// A value, in TOML.
    case value(String)
    /// What each kit has for itself, in words.
    case words(String)
    case none

    init(stringLiteral value: String) { self = .value(value) }

    var description: String {
        switch self {
        case .value(let text), .words(let text): text
        case .none: "none"
        }
    }

    /// The value; nil: there is none that is the same for all kits.
    var value: SettingsValue? {
        guard case .value(let text) = self, let document = try? TOMLDocument(Array("key = \(text)".utf8)) else {
            return nil
        }
        return SettingsValue.values(document)[["key"]]
    }
}

/// Keys one below the other, as in the file.
@resultBuilder
enum KeyList<Root> {
    static func buildExpression(_ key: Key<Root>) -> [Key<Root>] { [key] }

    static func buildExpression(_ keys: [Key<Root>]) -> [Key<Root>] { keys }

    static func buildBlock(_ keys: [Key<Root>]...) -> [Key<Root>] { keys.flatMap(\.self) }
}
