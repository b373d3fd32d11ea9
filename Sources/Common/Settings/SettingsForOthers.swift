/// A settings file in a form that may be sent to others: only known keys with valid values.
///
/// This omits comments and any password that stands there by mistake. The kit's real passwords are in separate files.
/// - Parameter bytes: the content of the file.
/// - Returns: TOML, one dotted key per line. A comment names what was omitted.
public func settingsForOthers(_ bytes: [UInt8]) -> String {
    do throws(TOMLDocument.Failure) {
        let reader = SettingsReader(document: try TOMLDocument(bytes), file: "")
        return lines(of: 0, SettingsSchema.keys, below: [], reader).map { $0 + "\n" }.joined()
    } catch {
        return "# line \(error.place.line), column \(error.place.column): the file cannot be read, and is left out\n"
    }
}

private func lines(
    of table: Int, _ keys: [Key<Settings>], below section: [String], _ reader: SettingsReader
) -> [String] {
    let document = reader.document
    return document.children(of: table).flatMap { node -> [String] in
        let (name, value) = (document.nodes[node].key, document.nodes[node].value)
        let path = section + [name]
        switch keys.first(where: { $0.name == name })?.role {
        case .section(let keys) where value == .table: return lines(of: node, keys, below: path, reader)
        case .value(let assignment):
            var (settings, reader) = (Settings(), reader)
            // A part of an array may be in force while the rest is unchecked.
            let isUnderstood = assignment.read(node, &settings, &reader) && reader.problemCount == 0
            return isUnderstood
                ? ["\(dotted(path)) = \(text(of: node, document))"]
                : ["# \(dotted(path)): a value that is not understood"]
        case .section, nil: return ["# \(dotted(path)): an unknown key"]
        }
    }
}

/// A value in TOML syntax.
private func text(of node: Int, _ document: TOMLDocument) -> String {
    let children = document.children(of: node)
    switch document.nodes[node].value {
    case .string(let string): return quoted(withoutSecrets(string), limit: 4096)
    case .integer(let number): return String(number)
    case .real(let number): return String(number)
    case .boolean(let value): return String(value)
    case .date: return "\"\""
    case .array: return "[" + children.map { text(of: $0, document) }.joined(separator: ", ") + "]"
    case .table:
        let pairs = children.map { "\(dotted([document.nodes[$0].key])) = \(text(of: $0, document))" }
        return "{ " + pairs.joined(separator: ", ") + " }"
    }
}
