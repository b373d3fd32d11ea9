import Filters
import Ring
import Takes

/// The queue to a playback card, in its channels and at its rate, before the volume is applied. It holds frames that
/// were not given to the card yet, and given frames that the card may still give back. Frames are numbered from 0 since
/// the card was opened.
struct PlayQueue {
    let format: StreamFormat
    /// The total number of frames made.
    private(set) var made: Int64 = 0
    /// Frames given to the card, minus the frames that it gave back.
    private(set) var given: Int64 = 0
    var fader: Fader

    private let encoder: SampleEncoder
    private let capacity: Int64
    private var frames: [Double]
    private var chunk: [Double]
    private var bytes: [UInt8]

    /// The most frames that are made at a time.
    static let chunkFrames = 4096

    /// - Parameters:
    ///   - bufferFrames: the most frames that the card holds, and so can give back.
    ///   - tailFrames: the most frames that are made at a time in addition to a chunk.
    init(format: StreamFormat, bufferFrames: Int, tailFrames: Int, volume: Double) {
        self.format = format
        fader = Fader(volume: volume)
        encoder = SampleEncoder(format.sampleFormat)
        capacity = Int64(bufferFrames + Self.chunkFrames + tailFrames)
        frames = [Double](repeating: 0, count: Int(capacity) * format.channels)
        chunk = [Double](repeating: 0, count: Self.chunkFrames * format.channels)
        bytes = [UInt8](repeating: 0, count: Self.chunkFrames * format.bytesPerFrame)
    }

    var isEmpty: Bool { given == made }

    mutating func append(_ samples: [Double], frameCount: Int) {
        let channels = format.channels
        for frame in 0..<frameCount {
            let place = Int((made + Int64(frame)) % capacity) * channels
            for channel in 0..<channels { frames[place + channel] = samples[frame * channels + channel] }
        }
        made += Int64(frameCount)
    }

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
            // Safe: `bytes` has room for a chunk, and `count` is at most a chunk.
            let taken = try unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe encoder.encode(samples.span.extracting(first: count * channels), into: buffer)
                return try unsafe sink.write(UnsafeRawBufferPointer(rebasing: buffer[..<size]))
            }
            given += Int64(taken)
            if taken < count { return false }
        }
        return true
    }

    /// Takes back the last frames, which the card gave back or dropped, as far as they are still stored here. A card
    /// may report more frames than it was given, for example frames on the way to a network loudspeaker.
    mutating func takeBack(_ frameCount: Int64) {
        given = max(given - frameCount, made - capacity, 0)
    }

    /// Drops the frames made from `frame` on, except those already given.
    mutating func drop(from frame: Int64) {
        made = max(given, min(made, frame))
    }

    /// The next `count` frames with their volume applied. The array may be longer.
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
