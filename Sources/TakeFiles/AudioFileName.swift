import Takes

/// What the name of a take's audio file says: `STEM-p2-raw.wav.part`.
struct AudioFileName: Hashable, Sendable {
    /// 1, then up.
    var part: Int
    /// Whether it is the unfiltered twin.
    var isUnfiltered: Bool
    /// What follows `.wav`.
    var stage: AudioFile.Stage
    /// Whether it has its final name, without `.part`.
    var isFinal: Bool { stage == .final }

    /// Parts in order, the filtered file before its twin.
    var place: (Int, Int) { (part, isUnfiltered ? 1 : 0) }

    /// Reads the name of a file of `take`; nil if it is no audio file's, or is spelt in another way than a recorder does.
    init?(_ file: String, of take: TakeName) {
        stage = [AudioFile.Stage.part, .tail].first { file.hasSuffix($0.suffix) } ?? .final
        var rest = file.dropLast(stage.suffix.count)
        guard rest.hasPrefix(take.stem), rest.hasSuffix(".wav") else { return nil }
        rest = rest.dropFirst(take.stem.count).dropLast(4)
        isUnfiltered = rest.hasSuffix("-raw")
        if isUnfiltered { rest = rest.dropLast(4) }
        guard rest.isEmpty || rest.hasPrefix("-p"), let part = rest.isEmpty ? 1 : Int(rest.dropFirst(2)) else {
            return nil
        }
        self.part = part
        guard file == take.audioFile(part: part, isUnfiltered: isUnfiltered) + stage.suffix else { return nil }
    }
}
