/// How SoundTouch cuts the sound into sequences, in frames.
///
/// The start of sequence k is sought within 0 to `seek` frames after frame k · tempo · `step` of the input, so errors
/// do not add up. Where two sequences overlap in the output, a frame comes from two places of the take. Their mean,
/// weighted as they are mixed, differs from a uniform course by at most (seek + |1 − tempo| · (step − overlap)) / 2,
/// which is kept below 10 ms of the take. The louder of both differs by at most (seek + |1 − tempo| · step) / 2.
struct StretchLengths: Hashable {
    /// Frames over which a sequence fades into the next. The same number of frames is compared to find the best fit.
    let overlap: Int
    /// Output frames from one sequence to the next. SoundTouch joins sequences at whole frames, so a tone is off by at
    /// most half a frame per step.
    let step: Int
    /// The number of input frames in which the start of the next sequence is sought.
    let seek: Int
    private let tempo: Double

    private static let overlapSeconds = 0.008
    /// A period of 63 Hz, the pitch of the lowest voices.
    private static let seekSeconds = 0.016
    /// A little less than 10 ms, because lengths are rounded to whole frames.
    private static let exactSeconds = 0.00975

    /// - Parameters:
    ///   - rateHz: the rate of SoundTouch's input.
    ///   - tempo: the speed factor.
    ///   - transposed: the speed factor of the resampling before. It shortens the periods of the sound.
    init(rateHz: Int, tempo: Double, transposed: Double) {
        self.tempo = tempo
        let periodRateHz = Double(rateHz) / max(1, transposed)
        // SoundTouch requires at least 16 frames, and multiples of 8.
        overlap = max(16, Int(periodRateHz * Self.overlapSeconds) & ~7)
        seek = Int(periodRateHz * Self.seekSeconds)
        let exactFrames = Self.exactSeconds * Double(rateHz) / transposed
        let room = max(0, 2 * exactFrames - Double(seek))
        // A step is at most two overlaps. SoundTouch allows no step below one overlap.
        step = overlap + Int(min(Double(overlap), room / max(abs(1 - tempo), 0.01)))
    }

    var sequence: Int { step + overlap }

    /// The number of input frames before the frame that output frame `step` comes from on average.
    ///
    /// `TDStretch::processSamples` takes the first sequence from the beginning of the input, without a search and
    /// without an overlap before it. That sequence ends after `step` frames. The next is sought from frame `skipped`
    /// on.
    var lead: Int {
        let skipped = max(0, tempo * Double(step - overlap) - Double(seek) / 2)
        let unevenness = (1 - tempo) * Double(step + overlap) / 2
        return Int((skipped + Double(seek) / 2 + tempo * Double(overlap) + unevenness).rounded())
    }
}
