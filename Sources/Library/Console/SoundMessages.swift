import Control
import Spectra
import Takes

/// The messages of the recorder's sound socket, read from pieces of any size (fieldfare-recorder(8), PROGRAMS).
///
/// Formats and sound are returned. Skipped frames show in the numbers of the frames. A message that the recorder cannot
/// have sent is an error, and the messages after it cannot be read.
struct SoundMessages {
    enum Message: Equatable {
        /// The layout of the following sound.
        case format(StreamFormat)
        /// Whole frames, and the number of the first one.
        case sound([UInt8], first: Int64)
    }

    /// The longest payloads. The recorder sends less.
    static let longest = (format: 4096, sound: 256 << 10)
    private static let headByteCount = 28

    /// Bytes from the begin of a message on. Those before `start` were read.
    private var bytes: [UInt8] = []
    private var start = 0
    /// The rest of a payload that is not used. These bytes did not arrive yet.
    private var unused = 0
    private var format: StreamFormat?

    mutating func append(_ piece: ArraySlice<UInt8>) {
        bytes.removeFirst(start)
        start = 0
        let count = min(unused, piece.count)
        unused -= count
        bytes += piece.dropFirst(count)
    }

    /// The next message that has arrived whole.
    mutating func next() throws(LiveSocket.Failure) -> Message? {
        while bytes.count - start >= Self.headByteCount {
            guard bytes[start..<start + 4].elementsEqual("FFS1".utf8) else {
                throw LiveSocket.Failure(description: "what it sends are not messages of sound")
            }
            let (kind, channels, frames) = (number(4, 2), Int(number(6, 2)), Int(number(8, 4)))
            switch kind {
            case 1:
                guard frames <= Self.longest.format else { throw Self.tooLong(frames) }
                guard let payload = payload(frames) else { return nil }
                let read = try Self.format(payload)
                format = read
                return .format(read)
            case 2:
                guard let format, format.channels == channels, let first = Int64(exactly: number(12, 8)),
                    first <= Int64.max >> 1
                else { throw LiveSocket.Failure(description: "its sound does not have the format that it stated") }
                let count = frames * format.bytesPerFrame
                guard count <= Self.longest.sound else { throw Self.tooLong(count) }
                guard let payload = payload(count) else { return nil }
                return .sound(payload, first: first)
            case 3: start += Self.headByteCount
            default: skip(Self.headByteCount + frames)
            }
        }
        return nil
    }

    private func number(_ offset: Int, _ count: Int) -> UInt64 {
        bytes[start + offset..<start + offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Removes a message, or the part of it that has arrived.
    private mutating func skip(_ count: Int) {
        let present = min(count, bytes.count - start)
        start += present
        unused = count - present
    }

    /// Removes a message with its payload if it has arrived whole.
    private mutating func payload(_ count: Int) -> [UInt8]? {
        let first = start + Self.headByteCount
        guard bytes.count - first >= count else { return nil }
        start = first + count
        return Array(bytes[first..<start])
    }

    private static func format(_ payload: [UInt8]) throws(LiveSocket.Failure) -> StreamFormat {
        let stated = try? JSONValue(decoding: payload)
        guard let rateHz = stated?["rate_hz"]?.integer, ColumnFormat.rates.contains(rateHz),
            let channels = stated?["channels"]?.integer, ColumnFormat.channelCounts.contains(channels),
            let sampleFormat = stated?["format"]?.text.flatMap({ SampleFormat(rawValue: $0) })
        else { throw LiveSocket.Failure(description: "the format of its card is unknown here") }
        let format = StreamFormat(
            rateHz: rateHz, channels: channels, sampleFormat: sampleFormat,
            significantBits: stated?["significant_bits"]?.integer)
        guard stated?["bytes_per_frame"]?.integer == format.bytesPerFrame else {
            throw LiveSocket.Failure(description: "the format of its card contradicts itself")
        }
        return format
    }

    private static func tooLong(_ count: Int) -> LiveSocket.Failure {
        LiveSocket.Failure(description: "a message of \(count) bytes is too long")
    }
}
