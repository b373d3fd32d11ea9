import Takes

/// Reads the markers from the chunks after the sound of a WAV file, in the form that `CueChunks` writes.
enum CueReading {
    /// More than 10 000 markers with the longest notes need.
    static let mostBytes = 16 << 20

    /// The markers in consecutive chunks. Damaged chunks are skipped.
    /// - Parameter bytes: start at the first chunk's header.
    static func cues(_ bytes: [UInt8]) -> [PartCue] {
        var points: [(number: Int, frame: Int64)] = []
        var labels: [Int: String] = [:]
        var regions: [Int: PartCue.Region] = [:]
        for (identifier, content) in chunks(bytes[...]) {
            if identifier == "cue " { points += cuePoints(content) }
            if identifier == "LIST", text(content.prefix(4)) == "adtl" {
                for (identifier, content) in chunks(content.dropFirst(4)) {
                    let marker = Int(number(content))
                    if identifier == "labl", content.count >= 4 { labels[marker] = text(content.dropFirst(4)) }
                    if identifier == "ltxt", content.count >= 20, text(content.dropFirst(8).prefix(4)) == "rgn " {
                        regions[marker] = PartCue.Region(
                            frames: Int64(number(content.dropFirst(4))), label: text(content.dropFirst(20)))
                    }
                }
            }
        }
        return points.map { number, frame in
            PartCue(number: number, frame: frame, label: labels[number] ?? "", region: regions[number])
        }
    }

    private static func cuePoints(_ content: ArraySlice<UInt8>) -> [(number: Int, frame: Int64)] {
        guard content.count >= 4 else { return [] }
        let count = min(Int(number(content)), (content.count - 4) / 24)
        return (0..<count).map { index in
            let point = content.dropFirst(4 + 24 * index)
            return (Int(number(point)), Int64(number(point.dropFirst(20))))
        }
    }

    /// The chunks that are complete.
    private static func chunks(_ bytes: ArraySlice<UInt8>) -> [(identifier: String, content: ArraySlice<UInt8>)] {
        var found: [(String, ArraySlice<UInt8>)] = []
        var rest = bytes
        while rest.count >= 8 {
            let size = Int(number(rest.dropFirst(4)))
            guard rest.count - 8 >= size else { break }
            found.append((text(rest.prefix(4)), rest.dropFirst(8).prefix(size)))
            rest = rest.dropFirst(8 + size + size % 2)
        }
        return found
    }

    /// Reads a little-endian number of 32 bits; 0 if there are fewer than four bytes.
    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
