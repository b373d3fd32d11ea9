import Takes

/// The beginning and the end mark of a file of columns. All numbers are little-endian.
///
/// | offset | beginning, 64 bytes |
/// |---|---|
/// | 0 | `FFSPECTR` |
/// | 8 | version, 32 bits: 1 |
/// | 12 | rate in hertz, 32 bits |
/// | 16 | channels, 32 bits |
/// | 20 | frames in a window, 32 bits |
/// | 24 | columns a second, 32 bits |
/// | 28 | bands, 32 bits: 256 |
/// | 32 | dB of full scale of the value 0, signed 32 bits: −200 |
/// | 36 | thousandths of dB from a value to the next, 32 bits: 1000 |
/// | 40 | frames of the sound, 64 bits |
/// | 48 | columns of level 0, 64 bits |
/// | 56 | number of levels, 32 bits |
/// | 60 | CRC-32 (IEEE 802.3) of the bytes before |
///
/// The columns follow: those of level 0 in the order of time, then those of each coarser level (`ColumnLevels`). A column
/// has 256 bytes for each channel. The end mark is last, and is written last: a file without it is incomplete.
///
/// | offset | end mark, 80 bytes |
/// |---|---|
/// | 0 | `FFSPEEND` |
/// | 8 | SHA-256 of the samples of the sound: 64 hexadecimal digits |
/// | 72 | the CRC-32 of the beginning |
/// | 76 | CRC-32 of the bytes before |
struct SpectraFrame: Hashable, Sendable {
    static let version = 1
    static let beginning = 64
    static let ending = 80
    /// A greater number of frames is an error in the file. It is 12 days at the highest rate.
    static let mostFrames = Int64(1) << 40
    private static let name = "FFSPECTR"
    private static let endName = "FFSPEEND"

    let format: ColumnFormat
    let frames: Int64
    let levels: ColumnLevels

    /// - Throws: `SpectraError` if there are too many frames.
    init(_ format: ColumnFormat, frames: Int64) throws(SpectraError) {
        guard (0...Self.mostFrames).contains(frames) else {
            throw SpectraError(.usage, "spectrum: the sound has \(frames) frames, 0 to \(Self.mostFrames) are allowed")
        }
        self.format = format
        self.frames = frames
        levels = ColumnLevels(columnCount: format.columnCount(frames: frames))
    }

    /// The length of a whole file.
    var byteCount: Int64 { offset(of: levels.total) + Int64(Self.ending) }

    /// The offset in the file of a column, counted over all levels.
    func offset(of column: Int64) -> Int64 { Int64(Self.beginning) + column * Int64(format.bytesPerColumn) }

    var head: [UInt8] {
        var bytes = Array(Self.name.utf8)
        for number in [
            Self.version, format.rateHz, format.channels, format.window, format.columnsPerSecond, ColumnFormat.bands,
            -Decibels.fullScale, 1000,
        ] {
            bytes.append(little: UInt64(truncatingIfNeeded: number), count: 4)
        }
        bytes.append(little: UInt64(frames), count: 8)
        bytes.append(little: UInt64(levels.levels[0].count), count: 8)
        bytes.append(little: UInt64(levels.levels.count), count: 4)
        bytes.appendCheck()
        return bytes
    }

    /// - Parameter sha256: 64 hexadecimal digits.
    func end(sha256: String) -> [UInt8] {
        var bytes = Array(Self.endName.utf8) + Array(sha256.utf8) + head.suffix(4)
        bytes.appendCheck()
        return bytes
    }

    /// Whether this is a SHA-256 in lower-case hexadecimal digits.
    static func isFingerprint(_ text: some Sequence<UInt8>) -> Bool {
        var count = 0
        for byte in text {
            guard
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            else { return false }
            count += 1
        }
        return count == 64
    }

    // MARK: - Reading

    /// Reads the beginning of a file.
    /// - Throws: `SpectraError`, with the path.
    init(_ bytes: [UInt8], path: String) throws(SpectraError) {
        guard bytes.count == Self.beginning else { throw Self.incomplete(path) }
        guard bytes.starts(with: Self.name.utf8) else { throw Self.damaged(path, "it does not begin as one") }
        let version = bytes.little(8, 4)
        guard version == Self.version else {
            throw Self.damaged(path, "it has version \(version), this program reads version \(Self.version)")
        }
        guard bytes.endsWithCheck else { throw Self.damaged(path, "the checksum of its beginning is wrong") }
        let frames = bytes.little(40, 8)
        do throws(SpectraError) {
            try self.init(
                ColumnFormat(
                    rateHz: bytes.little(12, 4), channels: bytes.little(16, 4),
                    columnsPerSecond: bytes.little(24, 4), window: bytes.little(20, 4)),
                frames: Int64(frames))
        } catch {
            throw Self.damaged(path, "its beginning has a number out of range (\(error))")
        }
        // The other numbers follow from these, or are constants.
        guard head == bytes else { throw Self.damaged(path, "the numbers of its beginning contradict each other") }
    }

    /// Reads the end mark.
    /// - Returns: the fingerprint of the sound.
    /// - Throws: `SpectraError`, with the path.
    func fingerprint(_ bytes: [UInt8], path: String) throws(SpectraError) -> String {
        guard bytes.count == Self.ending, bytes.starts(with: Self.endName.utf8) else { throw Self.incomplete(path) }
        guard bytes.endsWithCheck, Self.isFingerprint(bytes[8..<72]) else {
            throw Self.damaged(path, "its end mark is wrong")
        }
        guard bytes[72..<76].elementsEqual(head.suffix(4)) else {
            throw Self.damaged(path, "its end mark belongs to another file")
        }
        return String(decoding: bytes[8..<72], as: UTF8.self)
    }

    static func incomplete(_ path: String) -> SpectraError {
        SpectraError(.file, "spectrum: \(path) is incomplete: it must be computed again")
    }

    static func damaged(_ path: String, _ problem: String) -> SpectraError {
        SpectraError(.file, "spectrum: \(path) cannot be used: \(problem): it must be computed again")
    }
}

extension [UInt8] {
    fileprivate mutating func append(little number: UInt64, count: Int) {
        for place in 0..<count { append(UInt8(truncatingIfNeeded: number >> UInt64(8 * place))) }
    }

    fileprivate mutating func appendCheck() {
        var check = CRC32(.ieee)
        check.update(self)
        append(little: UInt64(check.value), count: 4)
    }

    fileprivate var endsWithCheck: Bool {
        var content = Array(dropLast(4))
        content.appendCheck()
        return content == self
    }

    /// A number of `count` bytes. A number of 8 bytes that is too large for `Int` is −1.
    fileprivate func little(_ offset: Int, _ count: Int) -> Int {
        let number = self[offset..<offset + count].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: number) ?? -1
    }
}
