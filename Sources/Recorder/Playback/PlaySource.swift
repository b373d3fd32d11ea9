import TakeFiles
import Takes

/// Makes a card's frames from a take: reads from a place on, and sends the frames through the stages.
struct PlaySource {
    /// Frames that were made but not used yet, in the card's channels and at its rate.
    var ready: Frames

    private let audio: TakeAudio
    private let tuning: Tuning
    private var path: PlayPath
    /// The next frame to read.
    private var next: PlayPosition
    private var read: [Double]
    private var state = State.reading

    private enum State {
        case reading
        /// All parts of the current format are read and processed.
        case over
    }

    /// A source that begins at a place, for a card in the format `card`.
    /// - Throws: the errors of the stages.
    init(_ audio: TakeAudio, at position: PlayPosition, card: StreamFormat, tuning: Tuning) throws {
        self.audio = audio
        self.tuning = tuning
        next = position
        let format = audio.parts[position.part].format
        path = try PlayPath(from: format, to: card, tuning: tuning)
        ready = Frames(channels: card.channels)
        // Enough input for about one chunk of output.
        let count = max(64, min(PlayQueue.chunkFrames, Int(Double(PlayQueue.chunkFrames) / path.ratio)))
        read = [Double](repeating: 0, count: count * format.channels)
        try begin(at: position)
    }

    /// Starts to read before the place, by the lead that the stages need. Before the part's beginning the lead is
    /// silence.
    private mutating func begin(at position: PlayPosition) throws {
        let before = min(position.frame, Int64(path.leadFrames))
        next = PlayPosition(part: position.part, frame: position.frame - before)
        let silence = path.leadFrames - Int(before)
        guard silence > 0 else { return }
        var frames = Frames(channels: format.channels)
        frames.append([Double](repeating: 0, count: silence * format.channels), frameCount: silence)
        try path.process(frames, into: &ready)
    }

    /// Whether it can continue at a place with this tuning.
    func canJump(to position: PlayPosition, _ tuning: Tuning) -> Bool {
        tuning == self.tuning && audio.parts[position.part].format == format
    }

    /// The format of the current part.
    var format: StreamFormat { audio.parts[next.part].format }

    /// Continues at another place of a part that has the same format.
    mutating func jump(to position: PlayPosition) throws {
        ready.removeAll()
        state = .reading
        try path.reset()
        try begin(at: position)
    }

    /// The next part in another format, once all parts of the current format are processed. Nil at the end of the take.
    var following: Int? {
        next.part + 1 < audio.parts.count ? next.part + 1 : nil
    }

    /// Makes more frames ready.
    /// - Returns: false at the end of the current format.
    mutating func make() throws -> Bool {
        while ready.count == 0 {
            switch state {
            case .over: return false
            case .reading:
                let count = try readOn()
                if count > 0 {
                    var frames = Frames(channels: format.channels)
                    frames.append(read, frameCount: count)
                    try path.process(frames, into: &ready)
                } else {
                    try path.flush(into: &ready)
                    state = .over
                }
            }
        }
        return true
    }

    /// Reads a chunk, and continues with the next part if it has the same format.
    /// - Returns: the number of frames, or 0 at the end.
    private mutating func readOn() throws -> Int {
        while true {
            let count = try read(part: next.part, at: next.frame)
            next.frame += Int64(count)
            if count > 0 { return count }
            guard let following, audio.parts[following].format == format else { return 0 }
            next = PlayPosition(part: following)
        }
    }

    private mutating func read(part: Int, at frame: Int64) throws -> Int {
        var samples: [Double] = []
        swap(&samples, &read)
        defer { swap(&samples, &read) }
        var span = samples.mutableSpan
        return try audio.read(part: part, at: frame, into: &span)
    }
}
