/// The arguments of a command line: words, and options that each have a value.
struct Options {
    /// The words that remain after the options were taken.
    private(set) var words: [String]

    init(_ words: [String]) {
        self.words = words
    }

    /// Takes an option's value, or nil if the option is absent.
    mutating func take(_ name: String) -> String? {
        guard let place = words.firstIndex(of: name), place + 1 < words.count else { return nil }
        defer { words.removeSubrange(place...place + 1) }
        return words[place + 1]
    }
}
