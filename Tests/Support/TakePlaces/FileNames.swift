extension String {
    /// The file of the take with this stem that ends so: `-p2-raw.wav.part` of a take of version 0.1, whose part and twin stand there, and in
    /// names with a date before their `_`. A later part is one that begins in the take's first second.
    package func file(_ ending: String) -> String {
        let folder = lastIndex(of: "/").map { index(after: $0) } ?? startIndex
        guard let mark = self[folder...].firstIndex(of: "_") else { return self + ending }
        let place = ending.prefix { $0 != "." }
        return "\(self[..<mark])\(place)\(self[mark...])\(ending.dropFirst(place.count))"
    }

    /// Whether it is a take's file that ends so, in names with a date too.
    package func hasEnding(_ ending: String) -> Bool {
        let place = ending.prefix { $0 != "." }
        return hasSuffix(ending) || contains("\(place)_") && hasSuffix(ending.dropFirst(place.count))
    }

    /// Whether it is a file, or the path of one, of the take with this stem, whenever the part began.
    package func isFile(of stem: String) -> Bool {
        let file = stem.contains("/") ? self[...] : self[(lastIndex(of: "/").map { index(after: $0) } ?? startIndex)...]
        guard let mark = stem.firstIndex(of: "_") else { return file.hasPrefix(stem) }
        let start = stem[..<mark]
        return file.contains("_") && (file.hasPrefix("\(start)_") || file.hasPrefix("\(start)-"))
    }

    /// The file of the unfiltered twin, where this is the name of a part's audio file.
    package var twin: String {
        let base = prefix { $0 != "." }
        return String(base).file("-raw" + dropFirst(base.count))
    }
}
