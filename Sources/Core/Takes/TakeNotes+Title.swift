extension TakeNotes {
    /// In characters, as a person counts them.
    public static let longestTitle = 200
    /// A character may have several bytes.
    private static let mostTitleBytes = 1000

    /// The title in its stored form, without surrounding spaces, or nil if the text is not a valid title.
    public static func title(_ text: String) -> String? {
        guard let found = line(text), found.count <= longestTitle, found.utf8.count <= mostTitleBytes else {
            return nil
        }
        return found
    }

    /// Sets the title, or removes it.
    ///
    /// The first line of the memo is shown in place of a missing title. If a person makes just this line the title, it is
    /// moved there from the memo, so that it is not shown twice.
    /// - Parameter title: in its stored form.
    public mutating func setTitle(_ title: String?) {
        if let title, self.title == nil, let memo { self.memo = Self.rest(of: memo, behind: title) }
        self.title = title
    }

    /// A memo without its first line, if that is the title; otherwise the whole memo. Nil if nothing remains.
    private static func rest(of memo: String, behind title: String) -> String? {
        let lines = memo.split(whereSeparator: \.isNewline)
        guard let first = lines.first(where: { line($0) != nil }), line(first) == title else { return memo }
        let rest = memo[first.endIndex...].drop(while: \.isWhitespace)
        return rest.isEmpty ? nil : String(rest)
    }
}
