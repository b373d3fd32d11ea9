import TakeFiles
import Takes

/// A stretch of a take as an MP3 with 64 kbit/s for each channel.
///
/// A take with more than two channels becomes stereo: the left channel is the mean of the odd channels, counted from 1, the
/// right one that of the even channels.
public struct TakeMP3: ExportStream, @unchecked Sendable {
    // Safe: only one thread at a time uses it, see `ExportStream`.

    public let name: String
    /// Not known in advance.
    public var byteCount: Int64? { nil }

    private let sound: TakeSound
    private let channels: Int
    private let encoder: Encoder
    /// The frames that are not encoded yet, or nil once all bytes were returned.
    private var rest: Range<Int64>?

    /// Boxes an encoder, which is not copyable.
    private final class Encoder {
        var writer: MP3Writer

        init(_ writer: consuming MP3Writer) { self.writer = consume writer }
    }

    private static let samplesAtATime = 1 << 16

    /// An MP3 of a range of the take's frames.
    /// - Parameters:
    ///   - range: it is cut at the end of the take.
    ///   - names: the names for copies of the take, if they differ from the take's own.
    /// - Throws: `ExportError`, `FileError`, `SoundFileError`.
    public init(_ range: Range<Int64>, of sound: TakeSound, names: TrueNames? = nil) throws {
        let take = names?.stem(of: sound.sidecar.take) ?? sound.sidecar.take
        let whole = 0..<sound.frameCount
        let range = range.lowerBound..<max(range.lowerBound, min(range.upperBound, whole.upperBound))
        guard !range.isEmpty, range.lowerBound >= 0 else {
            throw ExportError(
                .usage, "mp3: \(take) has frames 0 to \(whole.upperBound): from must lie before to, and among them")
        }
        let format = try sound.format(of: range)
        guard MP3Writer.rates.contains(format.rateHz) else {
            let rates = MP3Writer.rates.map(String.init).joined(separator: ", ")
            throw ExportError(
                .take, "mp3: \(take) has \(format.rateHz) Hz, and MP3 has only \(rates) Hz: ask for WAV or FLAC")
        }
        guard MP3Writer.isAvailable else {
            throw ExportError(
                .machine, "mp3: libsndfile writes no MP3 here: install version 1.1 or newer, or ask for FLAC")
        }
        name = range == whole ? "\(take).mp3" : "\(take)-\(range.lowerBound)-\(range.upperBound).mp3"
        self.sound = sound
        channels = format.channels
        encoder = Encoder(try MP3Writer(sending: name, rateHz: format.rateHz, channels: min(2, channels)))
        rest = range
    }

    public mutating func next() throws -> [UInt8]? {
        guard let left = rest else { return nil }
        if left.isEmpty {
            rest = nil
            encoder.writer.finish()
        } else {
            let count = min(max(1, Self.samplesAtATime / channels), left.count)
            let samples = try sound.readNumbers(from: left.lowerBound, count: count, channels: channels)
            try encoder.writer.write(Self.mixed(samples, channels: channels), frames: count)
            rest = left.dropFirst(count)
        }
        return encoder.writer.takePieces()
    }

    /// At most two channels.
    /// - Parameter samples: interleaved.
    static func mixed(_ samples: [Double], channels: Int) -> [Double] {
        guard channels > 2 else { return samples }
        let counts = [(channels + 1) / 2, channels / 2].map { Double($0) }
        var mixed = [Double](repeating: 0, count: samples.count / channels * 2)
        for (index, sample) in samples.enumerated() {
            let side = index % channels % 2
            mixed[index / channels * 2 + side] += sample / counts[side]
        }
        return mixed
    }
}
