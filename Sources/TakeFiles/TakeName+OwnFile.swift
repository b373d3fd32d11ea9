import Takes

extension TakeName {
    /// Whether a recorder of any version gives such a name to a file of a take; `file` begins with a stem. Other files that do, such as
    /// `STEM.mp3`, `STEM.wav.bak` or `STEM.dat.part.other1`, are a person's or another program's: they are neither moved nor removed with
    /// the take.
    static func isOwnFile(_ file: String) -> Bool {
        let endings = file.split(separator: ".", omittingEmptySubsequences: false).dropFirst()
        guard let kind = endings.first, ["wav", "flac", "json", "dat"].contains(kind) else { return false }
        return endings.dropFirst().allSatisfy { stages.contains($0) || Int($0) != nil }
    }

    /// What a recorder adds to a name that is not the final one. What it keeps of a damaged file may have a number as well.
    private static let stages: Set<Substring> = ["part", "tail", "tmp", "removed", "binned", "unread", "damaged"]
}
