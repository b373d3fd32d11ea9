import Digests
import TakeFiles
import Takes

/// A stretch of a take as a separate file, exact to the frame, with its markers and its start time.
public struct TakeClip: ExportStream, @unchecked Sendable {
    // Safe: only one thread at a time uses it, see `ExportStream`.

    public enum Format: String, CaseIterable, Sendable {
        case wav, flac
    }

    public let name: String
    /// Known in advance for WAV, not for FLAC.
    public private(set) var byteCount: Int64?

    private let sound: TakeSound
    private let range: Range<Int64>
    private let stored: StreamFormat
    /// Whether the take has 32 bits and the clip 24.
    private let isReduced: Bool
    private var stage: Stage

    private enum Stage {
        case wavHead([UInt8], tail: [UInt8])
        case wavSound(at: Int64, tail: [UInt8])
        /// FLAC has the MD5 of the sound in its header, so the sound is read twice. No temporary file is used, because
        /// the disk belongs to the recorder.
        case hashing(Digest, FLACMetadata, at: Int64)
        case encoding(Encoder, at: Int64)
        case done
    }

    /// Boxes a FLAC encoder, which is not copyable.
    private final class Encoder {
        var writer: FLACWriter

        init(_ writer: consuming FLACWriter) { self.writer = consume writer }
    }

    private static let samplesAtATime = 1 << 13
    /// The sound is read twice, and the browser gets no data during the first pass.
    private static let mostEncodedBytes: Int64 = 1 << 30

    /// A clip of a range of the take's frames.
    /// - Parameter names: the names for copies of the take, if they differ from the take's own.
    /// - Throws: `ExportError`, `FileError`, `SoundFileError`.
    public init(_ range: Range<Int64>, of sound: TakeSound, as format: Format, names: TrueNames? = nil) throws {
        let take = names?.stem(of: sound.sidecar.take) ?? sound.sidecar.take
        guard !range.isEmpty, range.lowerBound >= 0, range.upperBound <= sound.frameCount else {
            throw ExportError(
                .usage,
                "clip: \(take) has frames 0 to \(sound.frameCount): from must lie before to, and both among them")
        }
        self.sound = sound
        self.range = range
        let found = try sound.format(of: range)
        let clip = Self.sidecar(of: sound.sidecar, take, range, found)
        name = "\(take)-\(range.lowerBound)-\(range.upperBound).\(format.rawValue)"
        let soundBytes = Int64(range.count) * Int64(found.bytesPerFrame)
        switch format {
        case .wav:
            stored = found
            isReduced = false
            let cues = clip.cues(firstFrame: .first, frames: Int64(range.count), rateHz: found.rateHz, isLast: false)
            let tail = CueChunks.closing(cues, afterBytes: soundBytes)
            let whole = Int64(WAVHeader.byteCount) + soundBytes + Int64(tail.count)
            guard whole <= UInt32.max else {
                throw ExportError(
                    .usage, "clip: \(take): a WAV file has at most 4 GiB: choose a shorter range, or FLAC")
            }
            let origin = BroadcastOrigin(
                sidecar: clip, started: clip.begun ?? WallTime(microseconds: 0), firstFrame: 0, format: found,
                isUnfiltered: false)
            let head = WAVHeader(format: found, origin: origin).bytes(dataBytes: soundBytes, trailingBytes: tail.count)
            byteCount = whole
            stage = .wavHead(head, tail: tail)
        case .flac:
            stored = FLACWriter.format(for: found)
            isReduced = stored != found
            if let refusal = FLACWriter.refusal(of: stored) {
                throw ExportError(.usage, "clip: \(take): \(refusal): choose WAV")
            }
            guard soundBytes <= Self.mostEncodedBytes else {
                throw ExportError(
                    .usage,
                    "clip: \(take): at most 1 GiB of sound is made into FLAC at a time: choose a shorter range, or WAV")
            }
            let metadata = FLACMetadata(
                sidecar: clip, part: 0, isUnfiltered: false, format: stored, frames: Int64(range.count), chunks: [])
            stage = .hashing(Digest(.md5), metadata, at: range.lowerBound)
        }
    }

    /// The sidecar of a take that begins and ends with the range.
    private static func sidecar(of sidecar: Sidecar, _ take: String, _ range: Range<Int64>, _ format: StreamFormat)
        -> Sidecar
    {
        var clip = sidecar
        clip.take = take
        let before = Duration.seconds(Double(range.lowerBound) / Double(max(1, sidecar.rateHz)))
        if let begun = sidecar.begun {
            clip.started = (begun + before).iso8601
            clip.startedCorrected = nil
        }
        clip.parts = [
            Sidecar.Part(file: "\(take).wav", firstFrame: .first, frames: Int64(range.count), format: format)
        ]
        clip.markers = sidecar.markers.compactMap { $0.clipped(to: range) }
        return clip
    }

    public mutating func next() throws -> [UInt8]? {
        switch stage {
        case .wavHead(let head, let tail):
            stage = .wavSound(at: range.lowerBound, tail: tail)
            return head
        case .wavSound(let frame, let tail):
            guard frame < range.upperBound else {
                stage = .done
                return tail.isEmpty ? nil : tail
            }
            let count = Int(min(framesAtATime, range.upperBound - frame))
            stage = .wavSound(at: frame + Int64(count), tail: tail)
            return try bytes(from: frame, count: count)
        case .hashing(var digest, let metadata, let frame):
            if frame < range.upperBound {
                let count = Int(min(framesAtATime, range.upperBound - frame))
                let samples = try sound.readIntegers(from: frame, count: count, channels: stored.channels)
                if isReduced, let index = samples.firstIndex(where: { $0 & 0xff != 0 }) {
                    throw ExportError(
                        .usage,
                        "clip: \(sound.sidecar.take): frame \(frame + Int64(index / stored.channels)) has more than 24 bits, which FLAC "
                            + "does not hold here: choose WAV")
                }
                digest.update(littleEndian(samples))
                stage = .hashing(digest, metadata, at: frame + Int64(count))
            } else {
                let signature = FLACSignature(frames: Int64(range.count), md5: digest.bytes)
                let writer = try FLACWriter(sending: name, signature: signature, format: stored, metadata: metadata)
                stage = .encoding(Encoder(writer), at: range.lowerBound)
            }
            return []
        case .encoding(let encoder, let frame):
            if frame < range.upperBound {
                let count = Int(min(framesAtATime, range.upperBound - frame))
                try encoder.writer.write(
                    try sound.readIntegers(from: frame, count: count, channels: stored.channels), frames: count)
                stage = .encoding(encoder, at: frame + Int64(count))
            } else {
                try encoder.writer.finish()
                stage = .done
            }
            return encoder.writer.takePieces()
        case .done: return nil
        }
    }

    private var framesAtATime: Int64 { Int64(max(1, Self.samplesAtATime / stored.channels)) }

    /// The sound in the file's format, bit-exact.
    private func bytes(from frame: Int64, count: Int) throws -> [UInt8] {
        guard stored.sampleFormat == .float else {
            return littleEndian(try sound.readIntegers(from: frame, count: count, channels: stored.channels))
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * stored.bytesPerFrame)
        for sample in try sound.readNumbers(from: frame, count: count, channels: stored.channels) {
            let bits = Float(sample).bitPattern
            for byte in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: bits >> (8 * byte))) }
        }
        return bytes
    }

    /// Converts samples with full scale 2³¹ to the file's format.
    private func littleEndian(_ samples: [Int32]) -> [UInt8] {
        let width = stored.sampleFormat.bytesPerSample
        var bytes: [UInt8] = []
        bytes.reserveCapacity(samples.count * width)
        for sample in samples {
            for byte in (4 - width)..<4 { bytes.append(UInt8(truncatingIfNeeded: sample >> (8 * byte))) }
        }
        return bytes
    }
}
