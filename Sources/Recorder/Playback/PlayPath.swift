import Glibc
import Takes

/// The stages from the frames of a take's part to those of a card: `resample → pitch/speed → map`, each only if it is
/// needed. If the card has fewer channels than the take, `map` comes first, so that the other stages process fewer
/// channels.
struct PlayPath {
    /// Output frames per input frame.
    let ratio: Double
    /// The number of input frames that the stages need from before the start of playback.
    let leadFrames: Int
    private let stages: [any PlayStage]
    private let channels: Int
    /// The number of frames still to be dropped from each stage's output.
    private var latencies: [Int]

    /// - Throws: `ResamplerError` or `StretchError`.
    init(from part: StreamFormat, to card: StreamFormat, tuning: Tuning) throws {
        let narrow = min(part.channels, card.channels)
        var stages: [any PlayStage] = []
        var lead = 0
        if part.channels > card.channels { stages.append(MapStage(from: part.channels, to: card.channels)) }
        let fromHz = Double(part.rateHz) * tuning.resampling
        let toHz = Double(card.rateHz)
        if fromHz != toHz { stages.append(try ResampleStage(fromHz: fromHz, toHz: toHz, channels: narrow)) }
        if tuning.tempo != 1 {
            let stretch = try StretchStage(
                rateHz: card.rateHz, channels: narrow, tempo: tuning.tempo, transposed: tuning.resampling)
            stages.append(stretch)
            // Only this stage needs a lead.
            lead = Int((Double(stretch.leadFrames) * fromHz / toHz).rounded())
        }
        if part.channels < card.channels { stages.append(MapStage(from: part.channels, to: card.channels)) }
        self.stages = stages
        leadFrames = lead
        channels = part.channels
        latencies = stages.map(\.latencyFrames)
        ratio = toHz / Double(part.rateHz) / tuning.speed
    }

    /// Sends frames through all stages, and appends the result to `output`.
    mutating func process(_ input: Frames, into output: inout Frames) throws {
        try process(input, from: 0, into: &output)
    }

    /// Appends the rest to `output` after the last input.
    mutating func flush(into output: inout Frames) throws {
        for index in stages.indices {
            var rest = Frames(channels: stages[index].channels)
            try stages[index].flush(into: &rest)
            dropLatency(of: index, from: &rest)
            try process(rest, from: index + 1, into: &output)
        }
    }

    /// Prepares for input that does not follow the previous input.
    mutating func reset() throws {
        for stage in stages { try stage.reset() }
        latencies = stages.map(\.latencyFrames)
    }

    private mutating func process(_ input: Frames, from first: Int, into output: inout Frames) throws {
        var frames = input
        for index in stages.indices.dropFirst(first) {
            var next = Frames(channels: stages[index].channels)
            try stages[index].process(frames, into: &next)
            dropLatency(of: index, from: &next)
            frames = next
        }
        output.append(frames.samples, frameCount: frames.count)
    }

    private mutating func dropLatency(of index: Int, from frames: inout Frames) {
        let count = min(latencies[index], frames.count)
        frames.removeFirst(count)
        latencies[index] -= count
    }
}

extension Tuning {
    /// The resampling speed factor, which also changes the pitch.
    var resampling: Double { pitchFactor * (expands ? speed : 1) }
    /// The speed factor of the stretching after that, at the same pitch.
    var tempo: Double { expands ? 1 / pitchFactor : speed / pitchFactor }

    private var pitchFactor: Double { exp2(Double(pitchCents) / 1200) }
}
