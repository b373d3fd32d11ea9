extension String {
    /// A text of a person in the form in which it is stored: `withoutControls`. Nil if it has NUL, which nobody types.
    public var typed: String? { utf8.contains(0) ? nil : withoutControls }

    /// The text with a space in place of each control character except line breaks and tabs. C programs end a text at
    /// NUL, and terminals obey others.
    public var withoutControls: String {
        guard unicodeScalars.contains(where: Self.isControl) else { return self }
        return String(UnicodeScalarView(unicodeScalars.map { Self.isControl($0) ? " " : $0 }))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\n", "\r", "\t": false
        default: scalar.properties.generalCategory == .control
        }
    }
}
