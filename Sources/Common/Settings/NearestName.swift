extension [String] {
    /// The name that was probably meant: a few typing errors away, or a longer name that begins the same way.
    package func nearest(to name: String) -> String? {
        let name = String(name.lowercased().prefix(64).map { $0 == "-" ? "_" : $0 })
        let distances = map { (name: $0, distance: editDistance(Array<Character>(name), Array<Character>($0))) }
        let close = distances.filter { $0.distance <= Swift.max(1, $0.name.count / 3) }
        if let best = close.min(by: { $0.distance < $1.distance }) { return best.name }
        guard name.count >= 3 else { return nil }
        return first { $0.hasPrefix(name) || $0.hasSuffix(name) || name.hasPrefix($0) || name.hasSuffix($0) }
    }
}

/// The number of insertions, deletions, replacements and swaps of neighbours (restricted Damerau-Levenshtein distance).
func editDistance<Symbol: Equatable>(_ left: [Symbol], _ right: [Symbol]) -> Int {
    var (beforeLast, last, row) = ([Int](), [Int](), Array(0...right.count))
    for i in left.indices {
        (beforeLast, last) = (last, row)
        row = [i + 1]
        for j in right.indices {
            let replaced = last[j] + (left[i] == right[j] ? 0 : 1)
            var best = min(replaced, last[j + 1] + 1, row[j] + 1)
            if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                best = min(best, beforeLast[j - 1] + 1)
            }
            row.append(best)
        }
    }
    return row[right.count]
}
