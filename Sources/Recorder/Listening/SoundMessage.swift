import FoundationEssentials
import Live
import Ring
import Takes

/// One message of the sound socket: a header of 28 bytes, little-endian, and a payload.
///
/// The header is `FFS1`, the kind and the channels (16 bits each), the frames (32 bits), the first frame and its time
/// on `CLOCK_MONOTONIC_RAW` in nanoseconds (64 bits each). The payload of sound is its samples as the card delivered
/// them. Skipped frames have no payload. All other kinds have a JSON payload, and the frames field is its number of
/// bytes.
struct SoundMessage {
    var kind: Kind
    var channels = 0
    /// The frame number that the message refers to.
    var firstFrame: Int64 = 0
    /// The sample time of that frame, or 0 if it is not known.
    var rawNanoseconds: Int64 = 0

    enum Kind: UInt16 {
        /// The format that the card delivers from now on.
        case format = 1
        case sound
        /// The given number of frames is missing.
        case skipped
        /// The frames from this one on belong to a take.
        case takeBegins
        /// A take ended before this frame.
        case takeEnds
    }

    static let headByteCount = 28

    /// The message with its payload.
    /// - Parameter frames: the number of frames, or of payload bytes in a JSON message.
    func bytes(frames: Int, payload: [UInt8] = []) -> [UInt8] {
        var bytes = Array("FFS1".utf8)
        bytes.reserveCapacity(Self.headByteCount + payload.count)
        func append(_ number: some FixedWidthInteger) {
            for place in 0..<number.bitWidth / 8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
        }
        append(kind.rawValue)
        append(UInt16(clamping: channels))
        append(UInt32(clamping: frames))
        append(UInt64(clamping: firstFrame))
        append(UInt64(clamping: rawNanoseconds))
        return bytes + payload
    }

    private func bytes(_ object: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let payload = (try? encoder.encode(object)).map { Array($0) } ?? []
        return bytes(frames: payload.count, payload: payload)
    }
}

// MARK: - The messages

extension SoundMessage {
    private struct Format: Encodable {
        var rateHz, channels, bytesPerFrame, significantBits: Int
        var format: String

        enum CodingKeys: String, CodingKey {
            case channels, format
            case rateHz = "rate_hz"
            case bytesPerFrame = "bytes_per_frame"
            case significantBits = "significant_bits"
        }
    }

    static func format(_ format: StreamFormat, from frame: Int64) -> [UInt8] {
        SoundMessage(kind: .format, channels: format.channels, firstFrame: frame).bytes(
            Format(
                rateHz: format.rateHz, channels: format.channels, bytesPerFrame: format.bytesPerFrame,
                significantBits: format.significantBits, format: format.sampleFormat.rawValue))
    }

    /// Reports missing frames. One message covers at most `UInt32.max` frames, and `rest` is the remainder.
    static func skipped(_ frames: Range<Int64>, channels: Int) -> (message: [UInt8], rest: Range<Int64>) {
        let count = min(Int64(frames.count), Int64(UInt32.max))
        let message = SoundMessage(kind: .skipped, channels: channels, firstFrame: frames.lowerBound)
        return (message.bytes(frames: Int(count)), frames.lowerBound + count..<frames.upperBound)
    }

    private struct Take: Encodable {
        var take: String
        var atFrame: Int64
        var rateHz: Int

        enum CodingKeys: String, CodingKey {
            case take
            case atFrame = "at_frame"
            case rateHz = "rate_hz"
        }
    }

    /// Maps a frame number to a frame of a take, or reports the take's end.
    /// - Parameter number: the number of the frame in this stream.
    static func take(_ take: LiveTake, number: Int64, rawNanoseconds: Int64?) -> [UInt8] {
        SoundMessage(
            kind: take.isOver ? .takeEnds : .takeBegins, firstFrame: number, rawNanoseconds: rawNanoseconds ?? 0
        ).bytes(Take(take: take.stem, atFrame: take.frame.count, rateHz: take.rateHz))
    }
}
