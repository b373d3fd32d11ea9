/// How SoundTouch cuts the sound into sequences, in frames.
///
/// Sequence k is sought among those that begin 0 to `seek` frames after frame k · tempo · `step` of the input, so errors do not
/// add up. Where two sequences overlap in the output, a frame is of two places of the take. Their mean, weighted as they
/// are mixed, is off the even course by at most (seek + |1 − tempo| · (step − overlap)) / 2, which is kept below 10 ms of the
/// take. The louder of both is off by at most (seek + |1 − tempo| · step) / 2.
struct StretchLengths: Hashable {
    /// Frames over which a sequence fades into the next. As many are compared to find where that fits.
    let overlap: Int
    /// Frames of output from one sequence to the next. SoundTouch joins them at whole frames, so that a tone is off by at
    /// most half a frame for each step.
    let step: Int
    /// Frames of input among which the beginning of the next sequence is sought.
    let seek: Int
    private let tempo: Double

    private static let overlapSeconds = 0.008
    /// A period of 63 Hz, which the lowest voices have.
    private static let seekSeconds = 0.016
    /// A little less than 10 ms: the rest is for what is rounded to whole frames.
    private static let exactSeconds = 0.00975

    /// - Parameters:
    ///   - rateHz: the rate of SoundTouch's input.
    ///   - tempo: how many times faster.
    ///   - transposed: how many times faster the sound was played before; its periods are so much shorter.
    init(rateHz: Int, tempo: Double, transposed: Double) {
        self.tempo = tempo
        let periodRateHz = Double(rateHz) / max(1, transposed)
        // SoundTouch can have at least 16 frames, and multiples of 8.
        overlap = max(16, Int(periodRateHz * Self.overlapSeconds) & ~7)
        seek = Int(periodRateHz * Self.seekSeconds)
        let exactFrames = Self.exactSeconds * Double(rateHz) / transposed
        let room = max(0, 2 * exactFrames - Double(seek))
        // A step is at most two overlaps. SoundTouch can have none below one.
        step = overlap + Int(min(Double(overlap), room / max(abs(1 - tempo), 0.01)))
    }

    /// Frames of a sequence.
    var sequence: Int { step + overlap }

    /// Frames of input before the one that output frame `step` is of on average.
    ///
    /// `TDStretch::processSamples` takes the first sequence from the beginning, without an overlap before it. It is not
    /// sought, and over after `step` frames. The next is sought from frame `skipped` on.
    var lead: Int {
        let skipped = max(0, tempo * Double(step - overlap) - Double(seek) / 2)
        let unevenness = (1 - tempo) * Double(step + overlap) / 2
        return Int((skipped + Double(seek) / 2 + tempo * Double(overlap) + unevenness).rounded())
    }
}
