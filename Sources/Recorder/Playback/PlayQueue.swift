import Filters
import Ring
import Takes

/// What goes to a card that plays, in its channels and at its rate, before the volume: frames that were made and not given
/// yet, and those that were given and may be taken back. Frames are numbered from 0 since the card was opened.
struct PlayQueue {
    let format: StreamFormat
    /// Frames made ever.
    private(set) var made: Int64 = 0
    /// Frames that the card was given, less those that it gave back.
    private(set) var given: Int64 = 0
    /// The volume, frame by frame.
    var fader: Fader

    private let encoder: SampleEncoder
    private let capacity: Int64
    private var frames: [Double]
    private var chunk: [Double]
    private var bytes: [UInt8]

    /// The most frames that are made at a time.
    static let chunkFrames = 4096

    /// - Parameters:
    ///   - bufferFrames: the most frames that the card holds, and so gives back.
    ///   - tailFrames: the most that are made at a time besides chunks.
    init(format: StreamFormat, bufferFrames: Int, tailFrames: Int, volume: Double) {
        self.format = format
        fader = Fader(volume: volume)
        encoder = SampleEncoder(format.sampleFormat)
        capacity = Int64(bufferFrames + Self.chunkFrames + tailFrames)
        frames = [Double](repeating: 0, count: Int(capacity) * format.channels)
        chunk = [Double](repeating: 0, count: Self.chunkFrames * format.channels)
        bytes = [UInt8](repeating: 0, count: Self.chunkFrames * format.bytesPerFrame)
    }

    /// Whether all frames that were made are given.
    var isEmpty: Bool { given == made }

    /// Adds frames.
    mutating func append(_ samples: [Double], frameCount: Int) {
        let channels = format.channels
        for frame in 0..<frameCount {
            let place = Int((made + Int64(frame)) % capacity) * channels
            for channel in 0..<channels { frames[place + channel] = samples[frame * channels + channel] }
        }
        made += Int64(frameCount)
    }

    /// Adds silence.
    mutating func appendSilence(_ frameCount: Int) {
        var left = frameCount
        let silence = [Double](repeating: 0, count: Self.chunkFrames * format.channels)
        while left > 0 {
            let count = min(left, Self.chunkFrames)
            append(silence, frameCount: count)
            left -= count
        }
    }

    /// Gives the card frames, up to frame `limit`.
    /// - Returns: whether the card took them all.
    mutating func give(to sink: any PlaybackSink, upTo limit: Int64) throws -> Bool {
        while given < limit {
            let count = Int(min(limit - given, Int64(Self.chunkFrames)))
            let samples = scaled(count)
            let size = count * format.bytesPerFrame
            let (encoder, channels) = (encoder, format.channels)
            // Safe: the bytes have room for a chunk, of which count frames are given.
            let taken = try unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe encoder.encode(samples.span.extracting(first: count * channels), into: buffer)
                return try unsafe sink.write(UnsafeRawBufferPointer(rebasing: buffer[..<size]))
            }
            given += Int64(taken)
            if taken < count { return false }
        }
        return true
    }

    /// The card gave back, or dropped, its last frames: as many of them as are still here. A card may count more than it was
    /// given, such as what is under way to a loudspeaker elsewhere.
    mutating func takeBack(_ frameCount: Int64) {
        given = max(given - frameCount, made - capacity, 0)
    }

    /// Drops the frames that were made from `frame` on.
    mutating func drop(from frame: Int64) {
        made = max(given, min(made, frame))
    }

    /// The next `count` frames at their volume, and room for more.
    private mutating func scaled(_ count: Int) -> [Double] {
        let channels = format.channels
        let isTransparent = fader.isTransparent(from: given)
        for frame in 0..<count {
            let number = given + Int64(frame)
            let place = Int(number % capacity) * channels
            let volume = isTransparent ? 1 : fader.volume(at: number)
            for channel in 0..<channels { chunk[frame * channels + channel] = frames[place + channel] * volume }
        }
        return chunk
    }
}
