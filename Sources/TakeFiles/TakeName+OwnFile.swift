import Takes

extension TakeName {
    /// Whether a recorder of any version gives such a name to a file of a take; `file` begins with a stem. Other files that do, such as
    /// `STEM.mp3`, are a person's: they are neither moved nor removed with the take.
    static func isOwnFile(_ file: String) -> Bool {
        let ending = file.utf8.drop { $0 != UInt8(ascii: ".") }.dropFirst().prefix {
            $0 != UInt8(ascii: ".")
        }
        return ["wav", "flac", "json", "dat"].contains { ending.elementsEqual($0.utf8) }
    }
}
