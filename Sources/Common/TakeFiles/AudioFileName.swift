import Takes

/// The parsed name of a take's audio file: `STEM-p2-raw.wav.part`.
struct AudioFileName: Hashable, Sendable {
    /// The name without the extension.
    private let name: TakeFileName
    /// Counts from 1.
    var part: Int { name.part }
    var isUnfiltered: Bool { name.isUnfiltered }
    var file: String { name.base + ".wav" }
    /// The final name of the part's file, or of its unfiltered twin.
    func sibling(isUnfiltered: Bool) -> String { name.sibling(isUnfiltered: isUnfiltered).base + ".wav" }
    /// The stage that the suffix after `.wav` names.
    var stage: AudioFile.Stage
    var isFinal: Bool { stage == .final }

    /// Sorts parts in order, with the filtered file before its twin.
    var place: (Int, Int) { (part, isUnfiltered ? 1 : 0) }

    /// Parses the name of a file of `take`. Nil if it is not an audio file's name, or is not spelt as a recorder spells
    /// it.
    init?(_ file: String, of take: TakeName) {
        stage = [AudioFile.Stage.part, .tail].first { file.hasSuffix($0.suffix) } ?? .final
        guard let name = TakeFileName(file), name.mayBe(of: take) else { return nil }
        self.name = name
        guard self.file + stage.suffix == file else { return nil }
    }
}
