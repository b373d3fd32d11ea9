/// Changes to the text of a settings file, made from a phone. Comments, order and spacing stay as they are.
public struct SettingsEdit: Sendable {
    public private(set) var text: String
    private let file: String

    public init(_ text: String, file: String) {
        self.text = text
        self.file = file
    }

    public struct Refusal: Error, Hashable, CustomStringConvertible {
        public var description: String
    }

    /// Sets a key, or removes it so that its default is in force.
    ///
    /// The changed text is parsed again: all other keys must keep their values, and no new problem may appear.
    /// - Parameter name: the key with its sections, such as `capture.rate_hz`.
    /// - Throws: `Refusal`; the text is then unchanged.
    public mutating func set(_ name: String, to value: SettingsValue?) throws(Refusal) {
        guard let assignment = SettingsSchema.assignments.first(where: { $0.name == name })?.assignment else {
            throw Refusal(description: "settings: \(name): no such key")
        }
        guard assignment.hand.mayChange(to: value) else {
            throw Refusal(
                description:
                    "settings: \(name): is changed in \(file) by hand alone: it decides where sound and passwords go")
        }
        let path = name.split(separator: ".").map(String.init)
        guard let document = try? TOMLDocument(Array(text.utf8)) else {
            throw Refusal(description: "settings: \(file): is not TOML: correct it by hand first")
        }
        let before = SettingsValue.values(document)
        guard before[path] != value else { return }
        var lines = Lines(text)
        let node = document.nodes.indices.dropFirst().first { Self.path(of: $0, in: document) == path }
        if let node {
            try change(&lines, line: document.nodes[node].place.line - 1, key: path.last ?? "", to: value, name)
        } else if let value {
            lines.add("\(path.last ?? "") = \(value.toml)", below: path.dropLast().joined(separator: "."))
        }
        let changed = lines.text
        try check(changed, name, path, value, before)
        text = changed
    }

    private func byHand(_ name: String) -> Refusal {
        Refusal(
            description:
                "settings: \(file): \(name) is written in a way that is not changed from here: change it by hand")
    }

    private func change(
        _ lines: inout Lines, line: Int, key: String, to value: SettingsValue?, _ name: String
    ) throws(Refusal) {
        guard lines.indices.contains(line), let place = Assignment(lines[line], key: key) else { throw byHand(name) }
        if let value {
            lines[line].replaceSubrange(place.value, with: value.toml)
        } else {
            lines.remove(line)
        }
    }

    private func check(
        _ changed: String, _ name: String, _ path: [String], _ value: SettingsValue?,
        _ before: [[String]: SettingsValue]
    ) throws(Refusal) {
        guard let document = try? TOMLDocument(Array(changed.utf8)) else { throw byHand(name) }
        let isOther = { (found: [String]) in !found.starts(with: path) && !path.starts(with: found) }
        let after = SettingsValue.values(document)
        guard after[path] == value, before.filter({ isOther($0.key) }) == after.filter({ isOther($0.key) }) else {
            throw byHand(name)
        }
        let known = Set(Settings.parse(text, file: file).problems.map(\.message))
        if let problem = Settings.parse(changed, file: file).problems.first(where: { !known.contains($0.message) }) {
            throw Refusal(description: problem.description)
        }
    }

    private static func path(of node: Int, in document: TOMLDocument) -> [String] {
        var path: [String] = []
        var node = node
        while node != 0 {
            path.append(document.nodes[node].key)
            node = document.nodes[node].parent
        }
        return path.reversed()
    }

    /// `key = value` on one line.
    private struct Assignment {
        var value: Range<String.Index>

        init?(_ line: String, key: String) {
            let start = line.drop { $0 == " " || $0 == "\t" }
            guard let equals = start.firstIndex(of: "="), start[..<equals].drop(while: { $0 == "\"" }).hasPrefix(key)
            else {
                return nil
            }
            let rest = line[line.index(after: equals)...].drop { $0 == " " || $0 == "\t" }
            guard let end = Self.end(of: rest), end > rest.startIndex else { return nil }
            value = rest.startIndex..<end
        }

        /// The end of a value, or nil if it is not on this line.
        private static func end(of text: Substring) -> String.Index? {
            guard !text.hasPrefix("\"\"\""), !text.hasPrefix("'''") else { return nil }
            var depth = 0
            var quote: Character?
            var isEscaped = false
            var last = text.startIndex
            for index in text.indices {
                let character = text[index]
                if let open = quote {
                    if isEscaped {
                        isEscaped = false
                    } else if character == "\\", open == "\"" {
                        isEscaped = true
                    } else if character == open {
                        quote = nil
                    }
                } else if character == "\"" || character == "'" {
                    quote = character
                } else if character == "[" || character == "{" {
                    depth += 1
                } else if character == "]" || character == "}" {
                    depth -= 1
                } else if character == "#" {
                    break
                }
                if character != " ", character != "\t", !character.isNewline { last = text.index(after: index) }
            }
            return depth == 0 && quote == nil ? last : nil
        }
    }

    /// Lines with their line ends.
    private struct Lines {
        private var all: [String]
        private let end: String

        init(_ text: String) {
            // Split by scalars, because Swift treats CR LF as one character.
            all = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
            end = all.contains { $0.unicodeScalars.last == "\r" } ? "\r" : ""
        }

        var text: String { all.joined(separator: "\n") }
        var indices: Range<Int> { all.indices }

        subscript(_ line: Int) -> String {
            get { all[line] }
            set { all[line] = newValue }
        }

        mutating func remove(_ line: Int) { all.remove(at: line) }

        /// Adds an assignment below the header of a section. A missing section is added at the end.
        mutating func add(_ assignment: String, below section: String) {
            let head = all.firstIndex { line in
                let line = line.filter { $0 != " " && $0 != "\t" && $0 != "\r" }
                return line == "[\(section)]" || line.hasPrefix("[\(section)]#")
            }
            if let head {
                all.insert(assignment + end, at: head + 1)
                return
            }
            if let last = all.last, last.isEmpty { all.removeLast() }
            if !all.isEmpty { all.append(end) }
            all += ["[\(section)]" + end, assignment + end, ""]
        }
    }
}
