import Takes

/// What the name of a take's audio file says: `STEM-p2-raw.wav.part`.
struct AudioFileName: Hashable, Sendable {
    /// What it says up to the ending.
    private let name: TakeFileName
    /// 1, then up.
    var part: Int { name.part }
    /// Whether it is the unfiltered twin.
    var isUnfiltered: Bool { name.isUnfiltered }
    /// The final name.
    var file: String { name.base + ".wav" }
    /// The final name of the part's file, or of its twin's.
    func sibling(isUnfiltered: Bool) -> String { name.sibling(isUnfiltered: isUnfiltered).base + ".wav" }
    /// What follows `.wav`.
    var stage: AudioFile.Stage
    /// Whether it has its final name, without `.part`.
    var isFinal: Bool { stage == .final }

    /// Parts in order, the filtered file before its twin.
    var place: (Int, Int) { (part, isUnfiltered ? 1 : 0) }

    /// Reads the name of a file of `take`; nil if it is no audio file's, or is spelt in another way than a recorder does.
    init?(_ file: String, of take: TakeName) {
        stage = [AudioFile.Stage.part, .tail].first { file.hasSuffix($0.suffix) } ?? .final
        guard let name = TakeFileName(file), name.mayBe(of: take) else { return nil }
        self.name = name
        guard self.file + stage.suffix == file else { return nil }
    }
}
