import TakeFiles
import Takes

/// Makes a card's frames of a take: reads on from a place, and sends what it reads through the stages.
struct PlaySource {
    /// Frames that were made and not used yet, in the card's channels and at its rate.
    var ready: Frames

    private let audio: TakeAudio
    private let tuning: Tuning
    private var path: PlayPath
    /// The next frame to be read.
    private var next: PlayPosition
    private var read: [Double]
    private var state = State.reading

    private enum State {
        case reading
        /// All of this part's format is read and made.
        case over
    }

    /// A source that begins at a place, for a card that runs at `card`.
    /// - Throws: what the stages throw.
    init(_ audio: TakeAudio, at position: PlayPosition, card: StreamFormat, tuning: Tuning) throws {
        self.audio = audio
        self.tuning = tuning
        next = position
        let format = audio.parts[position.part].format
        path = try PlayPath(from: format, to: card, tuning: tuning)
        ready = Frames(channels: card.channels)
        // As much as makes about a chunk.
        let count = max(64, min(PlayQueue.chunkFrames, Int(Double(PlayQueue.chunkFrames) / path.ratio)))
        read = [Double](repeating: 0, count: count * format.channels)
        try begin(at: position)
    }

    /// Begins to read as much before a place as the stages need; before the part's beginning there is silence.
    private mutating func begin(at position: PlayPosition) throws {
        let before = min(position.frame, Int64(path.leadFrames))
        next = PlayPosition(part: position.part, frame: position.frame - before)
        let silence = path.leadFrames - Int(before)
        guard silence > 0 else { return }
        var frames = Frames(channels: format.channels)
        frames.append([Double](repeating: 0, count: silence * format.channels), frameCount: silence)
        try path.process(frames, into: &ready)
    }

    /// Whether it can go on at a place, with a tuning.
    func canJump(to position: PlayPosition, _ tuning: Tuning) -> Bool {
        tuning == self.tuning && audio.parts[position.part].format == format
    }

    /// The format of what it reads.
    var format: StreamFormat { audio.parts[next.part].format }

    /// Goes on at another place of a part that has the same format.
    mutating func jump(to position: PlayPosition) throws {
        ready.removeAll()
        state = .reading
        try path.reset()
        try begin(at: position)
    }

    /// The part that comes next, once all is made of what is of one format with the part that was read; nil: none.
    var following: Int? {
        next.part + 1 < audio.parts.count ? next.part + 1 : nil
    }

    /// Makes more frames ready.
    /// - Returns: false once there are no more of this part's format.
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

    /// Reads a chunk, on into the next part if that is of the same format.
    /// - Returns: how many frames; 0: there are no more.
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
