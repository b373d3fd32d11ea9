/// The lengths of the files of columns. Pure.
///
/// A complete file does not change, so it is measured once. Anybody may delete files: those that exist are passed in at
/// each use.
struct SpectraLengths {
    private(set) var byteCounts: [String: Int64] = [:]

    /// Keeps the lengths of the files that exist, and adds those that are missing.
    /// - Parameters:
    ///   - bases: the parts that have a file.
    ///   - measure: the length of a part's file, or nil if it is gone.
    mutating func follow(_ bases: Set<String>, measure: (String) -> Int64?) {
        byteCounts = byteCounts.filter { bases.contains($0.key) }
        for base in bases where byteCounts[base] == nil { byteCounts[base] = measure(base) }
    }

    /// The file of a part may have been replaced.
    mutating func forget(_ base: String) { byteCounts[base] = nil }
}
