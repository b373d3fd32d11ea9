/// The allowed values of one key and their meaning.
struct Form<Value: Sendable>: Sendable {
    /// The alternatives, for people.
    var allowed: [String]
    /// The value in force when the file has something else, or nil for the default.
    var misread: Value?
    /// The least and the greatest allowed number, or nil if no number is allowed.
    var limits: ClosedRange<Double>?
    /// Reads a node. Within a table the reader collects the problems.
    var read: @Sendable (_ node: Int, _ reader: inout SettingsReader) -> Reading

    enum Reading {
        case understood(Value)
        /// The node does not have this form.
        case refused
        /// The node is wrong, and the reader has reported why.
        case reported
    }

    init(allowed: [String], misread: Value? = nil, read: @escaping @Sendable (Int, inout SettingsReader) -> Reading) {
        self.allowed = allowed
        self.misread = misread
        self.read = read
    }

    /// A form that depends only on a node's own value. The closure returns nil if the value does not have the form.
    init(allowed: [String], _ value: @escaping @Sendable (TOMLDocument.Value) -> Value?) {
        self.init(allowed: allowed) { node, reader in
            value(reader.document.nodes[node].value).map(Reading.understood) ?? .refused
        }
    }

    /// The same form with its value mapped to another.
    func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> Form<Other> {
        let read = read
        var form = Form<Other>(allowed: allowed, misread: misread.map(transform)) { node, reader in
            switch read(node, &reader) {
            case .understood(let value): .understood(transform(value))
            case .refused: .refused
            case .reported: .reported
            }
        }
        form.limits = limits
        return form
    }

    /// Accepts either form.
    static func | (first: Form, second: Form) -> Form {
        var form = Form(allowed: first.allowed + second.allowed, misread: first.misread ?? second.misread) {
            node, reader in
            switch first.read(node, &reader) {
            case .refused: second.read(node, &reader)
            case let reading: reading
            }
        }
        form.limits = first.limits ?? second.limits
        return form
    }

    /// A word and its meaning.
    static func word(_ word: String, _ meaning: Value) -> Form {
        Form(allowed: [quoted(word)]) { $0 == .string(word) ? meaning : nil }
    }

    /// A word for nil, or another form.
    static func either<Wrapped>(_ word: String, or form: Form<Wrapped>) -> Form where Value == Wrapped? {
        .word(word, nil) | form.map(Optional.some)
    }

    /// A form whose key has no default.
    static func optional<Wrapped>(_ form: Form<Wrapped>) -> Form where Value == Wrapped? {
        form.map(Optional.some)
    }
}

extension Form where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    /// One of the words of an enumeration.
    static var choice: Form {
        Form(allowed: Value.allCases.map { quoted($0.rawValue) }) {
            guard case .string(let word) = $0 else { return nil }
            return Value(rawValue: word)
        }
    }
}

extension Form {
    /// One of the words of an enumeration, or an array of different ones. The word `none` means an empty array.
    static func choices<Word>(none: Word) -> Form
    where Value == [Word], Word: CaseIterable & RawRepresentable & Hashable & Sendable, Word.RawValue == String {
        let words = Word.allCases.map { quoted($0.rawValue) }
        return Form(allowed: words + ["an array of these"]) { node, reader in
            let document = reader.document
            let nodes = document.nodes[node].value == .array ? document.children(of: node) : [node]
            let values = nodes.map { node in
                if case .string(let word) = document.nodes[node].value { Word(rawValue: word) } else { nil as Word? }
            }
            let found = values.compactMap { $0 }
            guard found.count == nodes.count, Set(found).count == found.count else { return .refused }
            guard found != [none] else { return .understood([]) }
            return found.contains(none) ? .refused : .understood(found)
        }
    }
}

extension Form where Value == Bool {
    static var boolean: Form {
        Form(allowed: ["true", "false"]) {
            guard case .boolean(let value) = $0 else { return nil }
            return value
        }
    }
}

extension Form where Value == Int {
    /// A whole number, without a fraction.
    static func integer(_ range: ClosedRange<Int>, _ noun: String = "a whole number") -> Form {
        var form = Form(allowed: ["\(noun) from \(range.lowerBound) to \(range.upperBound)"]) {
            guard case .integer(let value) = $0, let value = Int(exactly: value) else { return nil }
            return range.contains(value) ? value : nil
        }
        form.limits = Double(range.lowerBound)...Double(range.upperBound)
        return form
    }

    /// One of a few whole numbers.
    static func one(of numbers: [Int]) -> Form {
        Form(allowed: numbers.map(String.init)) {
            guard case .integer(let value) = $0 else { return nil }
            return numbers.first { $0 == value }
        }
    }
}

extension Form where Value == Double {
    /// A number, with or without a fraction.
    static func number(_ range: ClosedRange<Double>, _ noun: String = "a number") -> Form {
        var form = Form(allowed: ["\(noun) from \(plain(range.lowerBound)) to \(plain(range.upperBound))"]) {
            switch $0 {
            case .real(let value): range.contains(value) ? value : nil
            case .integer(let value): range.contains(Double(value)) ? Double(value) : nil
            default: nil
            }
        }
        form.limits = range
        return form
    }
}

extension Form where Value == Duration {
    static func seconds(_ range: ClosedRange<Double>) -> Form {
        Form<Double>.number(range).map { .microseconds(($0 * 1_000_000).rounded()) }
    }

    static func minutes(_ range: ClosedRange<Double>) -> Form {
        Form<Double>.number(range).map { .microseconds(($0 * 60_000_000).rounded()) }
    }

    static func milliseconds(_ range: ClosedRange<Double>) -> Form {
        Form<Double>.number(range).map { .microseconds(($0 * 1000).rounded()) }
    }
}

extension Form where Value == String {
    /// Text that a check accepts. Control characters are refused, because C would read a path only up to its NUL. So
    /// are Unicode line breaks, because a path is printed on one line.
    static func text(_ noun: String, where check: @escaping @Sendable (String) -> Bool) -> Form {
        Form(allowed: [noun]) {
            guard case .string(let text) = $0, text.unicodeScalars.allSatisfy(isOfLine), check(text) else { return nil }
            return text
        }
    }

    /// Text that is not empty.
    static func name(_ noun: String) -> Form {
        .text(noun) { !$0.isEmpty && $0.utf8.count <= 255 }
    }
}

/// Whether a character neither controls a terminal nor ends a line.
private func isOfLine(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: false
    default: true
    }
}
