/// One known key of a table with its name, target and form, or a section with its own keys.
struct Key<Root>: Sendable {
    let name: String
    let role: Role

    enum Role: Sendable {
        case value(Assignment)
        case section([Key])
    }

    /// How a key's value is read and stored.
    struct Assignment: Sendable {
        let path: any PartialKeyPath<Root> & Sendable
        /// The alternatives, for people.
        let allowed: [String]
        /// The least and the greatest allowed number, or nil if no number is allowed.
        let limits: ClosedRange<Double>?
        let purpose: String
        /// The value in force when the file lacks the key.
        let standard: KeyDefault
        let hand: SettingsHand
        /// Reads the node. Returns false if its value is not in force.
        let read: @Sendable (_ node: Int, inout Root, inout SettingsReader) -> Bool
        /// Copies the value from another root.
        let copy: @Sendable (inout Root, _ from: Root) -> Void
    }

    /// A key whose value is stored at `path`.
    init<Value>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ form: Form<Value>,
        _ purpose: String = "", default standard: KeyDefault = .none, changed hand: SettingsHand = .phone
    ) {
        self.name = name
        role = .value(
            Assignment(
                path: path, allowed: form.allowed, limits: form.limits, purpose: purpose, standard: standard,
                hand: hand,
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

    init(_ name: String, @KeyList<Root> _ keys: () -> [Key]) {
        self.name = name
        role = .section(keys())
    }

    /// The key's own assignment, or those of its section, each with its dotted name.
    func assignments(below section: [String] = []) -> [(name: String, assignment: Assignment)] {
        switch role {
        case .value(let assignment): [(dotted(section + [name]), assignment)]
        case .section(let keys): keys.flatMap { $0.assignments(below: section + [name]) }
        }
    }
}

/// The value in force when a file lacks a key.
enum KeyDefault: ExpressibleByStringLiteral, CustomStringConvertible {
    /// In TOML.
    case value(String)
    /// In words, for a default that differs between kits.
    case words(String)
    case none

    init(stringLiteral value: String) { self = .value(value) }

    var description: String {
        switch self {
        case .value(let text), .words(let text): text
        case .none: "none"
        }
    }

    /// The value, or nil if the default is not the same for all kits.
    var value: SettingsValue? {
        guard case .value(let text) = self, let document = try? TOMLDocument(Array("key = \(text)".utf8)) else {
            return nil
        }
        return SettingsValue.values(document)[["key"]]
    }
}

/// Collects keys in the order of the file.
@resultBuilder
enum KeyList<Root> {
    static func buildExpression(_ key: Key<Root>) -> [Key<Root>] { [key] }

    static func buildExpression(_ keys: [Key<Root>]) -> [Key<Root>] { keys }

    static func buildBlock(_ keys: [Key<Root>]...) -> [Key<Root>] { keys.flatMap(\.self) }
}
