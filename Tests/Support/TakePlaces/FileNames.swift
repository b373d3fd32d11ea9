extension String {
    /// The file with this ending of the take with this stem. An example is `-p2-raw.wav.part` for a take of version
    /// 0.1. Its part and its twin are in the ending, but before the `_` in names with a date. A later part must begin
    /// in the take's first second.
    package func file(_ ending: String) -> String {
        let folder = lastIndex(of: "/").map { index(after: $0) } ?? startIndex
        guard let mark = self[folder...].firstIndex(of: "_") else { return self + ending }
        let place = ending.prefix { $0 != "." }
        return "\(self[..<mark])\(place)\(self[mark...])\(ending.dropFirst(place.count))"
    }

    /// Whether this is a take's file with this ending. Names with a date also match.
    package func hasEnding(_ ending: String) -> Bool {
        let place = ending.prefix { $0 != "." }
        return hasSuffix(ending) || contains("\(place)_") && hasSuffix(ending.dropFirst(place.count))
    }

    /// Whether this is a file, or the path of a file, of the take with this stem. The start time of the part does not
    /// matter.
    package func isFile(of stem: String) -> Bool {
        let file = stem.contains("/") ? self[...] : self[(lastIndex(of: "/").map { index(after: $0) } ?? startIndex)...]
        guard let mark = stem.firstIndex(of: "_") else { return file.hasPrefix(stem) }
        let start = stem[..<mark]
        return file.contains("_") && (file.hasPrefix("\(start)_") || file.hasPrefix("\(start)-"))
    }

    /// The file of the unfiltered twin, if this is the name of a part's audio file.
    package var twin: String {
        let base = prefix { $0 != "." }
        return String(base).file("-raw" + dropFirst(base.count))
    }
}
