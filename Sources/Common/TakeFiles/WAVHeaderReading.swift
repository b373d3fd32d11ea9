import Files
import Glibc
import Takes

/// The parsed header of an audio file that a recorder wrote. Other WAV files begin differently.
///
/// The bytes may come from a damaged disk, so every field is checked.
struct WAVHeaderReading: Hashable, Sendable {
    /// The stored format.
    let format: StreamFormat
    /// Nil if it cannot be read.
    let origin: BroadcastOrigin?
    /// Bytes of sound, as of the start of the last sync.
    let dataBytes: Int64
    /// The size of the file according to the header.
    let fileBytes: Int64
    /// The whole content of the `fmt ` chunk, which has more fields than `format`.
    let formatChunk: [UInt8]
    /// Whether there are only chunks that a recorder writes. Other readers stop at a damaged chunk name.
    let hasOwnChunksOnly: Bool

    /// Parses the first `WAVHeader.byteCount` bytes of a file. Nil if they are not a header that a recorder writes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == WAVHeader.byteCount, bytes.text(0..<4) == "RIFF", bytes.text(8..<12) == "WAVE",
            bytes.text(4088..<4092) == "data"
        else { return nil }
        var chunks: [String: Range<Int>] = [:]
        var place = 12
        while place + 8 <= 4088 {
            let start = place + 8
            let size = Int(bytes.number(place + 4, UInt32.self))
            guard start + size <= 4088 else { return nil }
            chunks[bytes.text(place..<place + 4)] = start..<start + size
            place = start + size + size % 2
        }
        guard place == 4088, let chunk = chunks["fmt "], let format = Self.format(bytes, chunk), format.canBeStored
        else {
            return nil
        }
        self.format = format
        formatChunk = Array(bytes[chunk])
        hasOwnChunksOnly = chunks.keys.allSatisfy(["bext", "fmt ", "fact", "JUNK"].contains)
        origin = chunks["bext"].flatMap { BroadcastOrigin(Array(bytes[$0]), rateHz: format.rateHz) }
        dataBytes = Int64(bytes.number(4092, UInt32.self))
        fileBytes = Int64(bytes.number(4, UInt32.self)) + 8
    }

    /// Whether other programs can read the header: its format chunk is one that a recorder of this or an earlier
    /// version writes.
    func isReadable(like header: WAVHeader) -> Bool {
        hasOwnChunksOnly && [header.formatChunk, header.earlierFormatChunk].contains(formatChunk)
    }

    private static func format(_ bytes: [UInt8], _ chunk: Range<Int>) -> StreamFormat? {
        guard chunk.count >= 16 else { return nil }
        func field(_ offset: Int) -> UInt16 { bytes.number(chunk.lowerBound + offset, UInt16.self) }
        let isExtensible = field(0) == 0xfffe
        guard !isExtensible || chunk.count >= 40 else { return nil }
        let sample: SampleFormat
        switch (isExtensible ? field(24) : field(0), field(14)) {
        case (1, 16): sample = .s16
        case (1, 24): sample = .s24Packed
        case (1, 32): sample = .s32
        case (3, 32): sample = .float
        default: return nil
        }
        let format = StreamFormat(
            rateHz: Int(bytes.number(chunk.lowerBound + 4, UInt32.self)), channels: Int(field(2)),
            sampleFormat: sample)
        return Int(field(12)) == format.bytesPerFrame ? format : nil
    }
}

extension StreamFormat {
    /// Whether a sound card may have this format, and the fields of a WAV header can hold it.
    var canBeStored: Bool { (1000...1_000_000).contains(rateHz) && (1...1024).contains(channels) }
}

extension BroadcastOrigin {
    /// Parses the content of a `bext` chunk. Nil if it is too short or its time is damaged.
    ///
    /// - Parameter rateHz: the frame rate by which the time since midnight is counted.
    init?(_ bytes: [UInt8], rateHz: Int) {
        guard bytes.count >= 602 else { return nil }
        // A recorder whose clock was not set writes no date.
        let isUndated = bytes[320..<346].allSatisfy { $0 == 0 }
        let midnight = WallTime(iso8601: bytes.text(320..<330) + "T00:00:00.000000Z")
        let reference = bytes.number(338, UInt64.self)
        guard isUndated || midnight != nil, reference <= UInt64(rateHz) * 86_400 else { return nil }
        // Rounded up, so that converting back gives the same frame.
        let microseconds = (Int64(reference) * 1_000_000 + Int64(rateHz) - 1) / Int64(rateHz)
        self.init(
            description: bytes.text(0..<256), originator: bytes.text(256..<288), reference: bytes.text(288..<320),
            started: midnight.map { WallTime(microseconds: $0.microseconds + microseconds) },
            codingHistory: bytes.text(602..<bytes.count))
    }

    /// The version and the card from the coding history; empty if missing.
    var recorder: (version: String, card: String) {
        let mark = "T=Fieldfare "
        guard let line = codingHistory.split(separator: "\r\n").first(where: { $0.contains(mark) }),
            let start = line.firstRange(of: mark)?.upperBound
        else { return ("", "") }
        let fields = line[start...].split(separator: "; ", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(fields[0]), fields.count > 1 ? String(fields[1]) : "")
    }
}

extension [UInt8] {
    /// A text field, up to its first zero byte.
    fileprivate func text(_ range: Range<Int>) -> String {
        String(decoding: self[range].prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Reads a little-endian number.
    fileprivate func number<Number: FixedWidthInteger>(_ offset: Int, _: Number.Type) -> Number {
        self[offset..<offset + Number.bitWidth / 8].reversed().reduce(0) { $0 << 8 | Number($1) }
    }
}

extension FileSystem {
    /// Whether there is a WAV file that a recorder wrote for a take, according to its header.
    /// - Throws: `FileError` if the file exists and cannot be read.
    func isSound(_ path: String, of take: TakeName) throws(FileError) -> Bool {
        do throws(FileError) {
            let head = try read(openToRead(path, followsLink: false), at: 0, count: WAVHeader.byteCount)
            return WAVHeaderReading(head)?.origin?.isOf(take) == true
        } catch {
            guard [ENOENT, ENOTDIR, ELOOP, EISDIR, ESPIPE, ENXIO].contains(error.code) else { throw error }
            return false
        }
    }
}
