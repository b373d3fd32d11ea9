/// The order in which files of columns are removed when space is short. Pure.
///
/// Those that nobody looked at since the start go first, the oldest take first, then the one that was looked at longest
/// ago.
struct SpectraUses {
    private var uses: [String: Int] = [:]
    private var last = 0

    /// Somebody looked at a part.
    mutating func use(_ base: String) {
        last += 1
        uses[base] = last
    }

    mutating func forget(_ base: String) { uses[base] = nil }

    /// The parts in the order of their removal.
    /// - Parameter bases: names of audio files without their extensions. The text after the first `_` is their time.
    func inOrder(_ bases: some Sequence<String>) -> [String] {
        bases.map { (use: uses[$0] ?? 0, time: $0.drop { $0 != "_" }, base: $0) }
            .sorted { ($0.use, $0.time, $0.base) < ($1.use, $1.time, $1.base) }
            .map(\.base)
    }
}
