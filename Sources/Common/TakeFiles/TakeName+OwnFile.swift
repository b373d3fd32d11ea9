import Takes

extension TakeName {
    /// Whether a recorder of any version gives such a name to a file of a take; `file` begins with a stem. Other files that do, such as
    /// `STEM.mp3`, `STEM.wav.bak`, `STEM.wav.1` or `STEM.dat.part.other1`, are a person's or another program's: they are neither moved
    /// nor removed with the take.
    static func isOwnFile(_ file: String) -> Bool {
        var endings = file.split(separator: ".", omittingEmptySubsequences: false).dropFirst()
        // `TakeSite.keep` numbers what it keeps, from 2.
        if numbered.contains(Array(endings.dropLast())), let number = endings.last.flatMap({ Int($0) }), number > 1 {
            endings.removeLast()
        }
        guard let kind = endings.first, ["wav", "flac", "json", "dat"].contains(kind) else { return false }
        return endings.dropFirst().allSatisfy(stages.contains)
    }

    /// The endings that may have a number.
    private static let numbered: [[Substring]] = [["json", "damaged"], ["json", "part", "unread"]]

    /// What a recorder adds to a name that is not the final one.
    private static let stages: Set<Substring> = ["part", "tail", "tmp", "removed", "binned", "unread", "damaged"]
}
