import Takes

extension TakeName {
    /// Whether a recorder of any version gives a file of a take such a name. `file` begins with a stem. Other names,
    /// such as `STEM.mp3`, `STEM.wav.bak`, `STEM.wav.1` or `STEM.dat.part.other1`, come from a person or another
    /// program. Such files are neither moved nor removed with the take.
    static func isOwnFile(_ file: String) -> Bool {
        var endings = file.split(separator: ".", omittingEmptySubsequences: false).dropFirst()
        // `TakeSite.keep` numbers the files that it keeps, from 2.
        if numbered.contains(Array(endings.dropLast())), let number = endings.last.flatMap({ Int($0) }), number > 1 {
            endings.removeLast()
        }
        guard let kind = endings.first, ["wav", "flac", "json", "dat"].contains(kind) else { return false }
        return endings.dropFirst().allSatisfy(stages.contains)
    }

    /// The extensions that may be followed by a number.
    private static let numbered: [[Substring]] = [["json", "damaged"], ["json", "part", "unread"]]

    /// The suffixes that a recorder appends to names that are not final.
    private static let stages: Set<Substring> = ["part", "tail", "tmp", "removed", "binned", "unread", "damaged"]
}
