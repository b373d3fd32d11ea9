/// Compares a file with the schema and collects the problems.
struct SettingsReader {
    let document: TOMLDocument
    let file: String
    private(set) var problems: [SettingsProblem] = []
    /// The number of problems, including those that are not listed.
    private(set) var problemCount = 0
    /// The keys with a valid value in the file.
    private(set) var understood: [AnyKeyPath: Int] = [:]
    /// All keys of the schema that the file contains.
    private(set) var mentioned: Set<AnyKeyPath> = []

    /// The most problems that are listed. A file of another kind has thousands.
    static let mostProblems = 100

    init(document: TOMLDocument, file: String) {
        self.document = document
        self.file = file
    }

    mutating func read(into settings: inout Settings) {
        read(0, SettingsSchema.keys, into: &settings)
        apply(SettingsSchema.rules, to: &settings)
        checkLampForAll(in: &settings)
        checkThatLinesDiffer(in: &settings)
    }

    /// Reads a table whose known keys are `keys`.
    mutating func read<Root>(_ table: Int, _ keys: [Key<Root>], into root: inout Root) {
        for node in document.children(of: table) {
            guard let key = keys.first(where: { $0.name == document.nodes[node].key }) else {
                reportUnknown(node, among: keys)
                continue
            }
            switch key.role {
            case .value(let assignment):
                mentioned.insert(assignment.path)
                if assignment.read(node, &root, &self) {
                    understood[assignment.path] = node
                }
            case .section(let keys):
                guard document.nodes[node].value == .table else {
                    report(node, "found \(found(node)): allowed is a section, [\(dotted(path(of: node)))]")
                    continue
                }
                read(node, keys, into: &root)
            }
        }
    }

    /// Marks a key's value as not in force.
    mutating func forget(_ path: AnyKeyPath) { understood[path] = nil }

    mutating func report(_ node: Int, _ message: String) {
        problemCount += 1
        guard problemCount <= Self.mostProblems else { return }
        let place = document.nodes[node].place
        problems.append(
            SettingsProblem(
                file: file, line: place.line, column: place.column, key: dotted(path(of: node)), message: message))
    }

    /// A key with its sections.
    func path(of node: Int) -> [String] {
        var path: [String] = []
        var node = node
        while node != 0 {
            path.append(document.nodes[node].key)
            node = document.nodes[node].parent
        }
        return path.reversed()
    }

    /// The value in the file and its type: `"fast" (a string)`.
    func found(_ node: Int) -> String {
        switch document.nodes[node].value {
        case .string(let text):
            // This may be a secret that stands here by mistake.
            if document.nodes[node].key.hasSuffix("_file"), !text.contains("/") { return "a string" }
            return "\(quoted(withoutSecrets(text))) (a string)"
        case .integer(let number): return "\(number) (a whole number)"
        case .real(let number): return "\(number) (a real number)"
        case .boolean(let value): return "\(value) (a boolean)"
        case .date: return "a date or a time"
        case .array: return "an array"
        case .table:
            let keys = document.children(of: node).map { dotted([document.nodes[$0].key]) }
            guard !keys.isEmpty else { return "an empty table" }
            return "a table with \(keys.prefix(6).joined(separator: ", "))" + (keys.count > 6 ? ", …" : "")
        }
    }

    private mutating func reportUnknown<Root>(_ node: Int, among keys: [Key<Root>]) {
        guard problemCount < Self.mostProblems else {
            problemCount += 1
            return
        }
        let (key, names) = (document.nodes[node].key, keys.map(\.name))
        let noun = document.nodes[node].parent == 0 ? "section" : "key"
        var message = "found an unknown \(noun): \(permission(of: names))"
        if let known = names.nearest(to: key) ?? SettingsSchema.elsewhere(key) {
            message += "; did you mean '\(known)'?"
        }
        report(node, message)
    }
}
