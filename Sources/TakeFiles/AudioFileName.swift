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
        let name = file.dropLast(stage.suffix.count)
        guard name.hasPrefix(take.stem), name.hasSuffix(".wav") else { return nil }
        switch TakeFile(sound: String(name)).role {
        case .sound(let part): (self.part, isUnfiltered) = (part, false)
        case .unfiltered(let part): (self.part, isUnfiltered) = (part, true)
        case .waveform, .memo, .notes, .sidecar: return nil
        }
        guard file == take.audioFile(part: part, isUnfiltered: isUnfiltered) + stage.suffix else { return nil }
    }
}
