public import Files

/// A file of columns, read in pieces. Thread-safe.
///
/// The beginning, the end mark and the length are checked at first: the file then has all its columns. It is open only
/// while it is read, because a take may have more parts than a process may have open files.
public struct SpectraReader: Sendable {
    public let format: ColumnFormat
    /// The frames of the sound.
    public let frames: Int64
    public let levels: ColumnLevels
    /// SHA-256 of the samples of the sound, 64 lower-case hexadecimal digits. If the fingerprint of the sound differs
    /// now, the file belongs to another sound.
    public let sha256: String

    private let frame: SpectraFrame
    private let path: String
    private let files: FileSystem

    /// The most columns in one answer: 1 MB.
    public static let mostColumns = 4096
    private static let pieceByteCount = 1 << 18

    /// Opens a file. A symbolic link is not followed.
    /// - Throws: `FileError`; `SpectraError` if it is incomplete, damaged or of another version.
    public init(_ path: String, files: FileSystem = FileSystem()) throws {
        let file = try files.openToRead(path, followsLink: false)
        let frame = try SpectraFrame(files.read(file, at: 0, count: SpectraFrame.beginning), path: path)
        let length = try files.length(file)
        guard length == frame.byteCount else {
            throw length < frame.byteCount
                ? SpectraFrame.incomplete(path)
                : SpectraFrame.damaged(path, "it has \(length) bytes, and its beginning says \(frame.byteCount)")
        }
        sha256 = try frame.fingerprint(
            files.read(file, at: frame.offset(of: frame.levels.total), count: SpectraFrame.ending), path: path)
        format = frame.format
        frames = frame.frames
        levels = frame.levels
        self.frame = frame
        self.path = path
        self.files = files
    }

    /// Columns of one channel.
    /// - Parameters:
    ///   - range: columns of the level. It is cut at the level's ends.
    ///   - level: 0 for the finest.
    ///   - channel: counted from 0.
    /// - Returns: 256 values for each column, from the lowest frequency to the highest.
    /// - Throws: `FileError`, `SpectraError`.
    public func columns(_ range: Range<Int64>, level: Int, channel: Int) throws -> [UInt8] {
        guard levels.levels.indices.contains(level), (0..<format.channels).contains(channel) else {
            throw SpectraError(
                .usage,
                "spectrum: \(path) has levels 0 to \(levels.levels.count - 1) and channels 0 to \(format.channels - 1)"
            )
        }
        let range = range.clamped(to: 0..<levels.levels[level].count)
        guard range.count <= Self.mostColumns else { throw tooMany(range.count) }
        var values: [UInt8] = []
        values.reserveCapacity(range.count * ColumnFormat.bands)
        var column = range.lowerBound
        let file = try open()
        while column < range.upperBound {
            let piece = try piece(of: file, from: column, until: range.upperBound, levels.levels[level])
            let count = piece.count / format.bytesPerColumn
            for index in 0..<count {
                let start = index * format.bytesPerColumn + channel * ColumnFormat.bands
                values += piece[start..<start + ColumnFormat.bands]
            }
            column += Int64(count)
        }
        return values
    }

    /// A picture of a range of frames, with any number of columns. It shows the greatest values: nothing in the range is
    /// left out. It is computed from the coarsest level whose columns are not wider than its own.
    /// - Parameters:
    ///   - range: a range of frames within the sound. A column of the file is shown in each column that it touches.
    ///   - count: the number of columns, 1 to `mostColumns`.
    ///   - channel: counted from 0, or nil for the greatest values of all channels.
    /// - Returns: 256 values for each column, from the lowest frequency to the highest.
    /// - Throws: `FileError`, `SpectraError`.
    public func picture(of range: Range<Int64>, columns count: Int, channel: Int?) throws -> [UInt8] {
        guard (0..<format.channels).contains(channel ?? 0), range.lowerBound >= 0, range.upperBound <= frames,
            !range.isEmpty
        else {
            throw SpectraError(
                .usage,
                "spectrum: \(path) has frames 0 to \(frames) and channels 0 to \(format.channels - 1): from must lie before to"
            )
        }
        guard (1...Self.mostColumns).contains(count) else { throw tooMany(count) }
        let length = Int64(range.count)
        let width = length * Int64(format.columnsPerSecond) / (Int64(format.rateHz) * Int64(count))
        let level = levels.levels.last { $0.span <= width } ?? levels.levels[0]
        let end = format.column(at: range.upperBound - 1) / level.span + 1
        var values = [UInt8](repeating: 0, count: count * ColumnFormat.bands)
        var piece: [UInt8] = []
        var loaded: Range<Int64> = 0..<0
        let channels = channel.map { $0..<$0 + 1 } ?? 0..<format.channels
        let file = try open()
        for index in 0..<count {
            let from = range.lowerBound + Int64(index) * length / Int64(count)
            let to = range.lowerBound + Int64(index + 1) * length / Int64(count)
            let sources = format.column(at: from) / level.span...format.column(at: max(from, to - 1)) / level.span
            for source in sources {
                if !loaded.contains(source) {
                    piece = try self.piece(of: file, from: source, until: end, level)
                    loaded = source..<source + Int64(piece.count / format.bytesPerColumn)
                }
                for channel in channels {
                    let start = Int(source - loaded.lowerBound) * format.bytesPerColumn + channel * ColumnFormat.bands
                    for band in 0..<ColumnFormat.bands {
                        let place = index * ColumnFormat.bands + band
                        values[place] = max(values[place], piece[start + band])
                    }
                }
            }
        }
        return values
    }

    private func tooMany(_ count: Int) -> SpectraError {
        SpectraError(.usage, "spectrum: found \(count) columns, 1 to \(Self.mostColumns) are sent at once")
    }

    /// The file, if it still is the same.
    private func open() throws -> OpenFile {
        let file = try files.openToRead(path, followsLink: false)
        guard try files.read(file, at: 0, count: frame.head.count) == frame.head else {
            throw SpectraFrame.damaged(path, "another file took its place")
        }
        return file
    }

    /// Some columns of all channels: at least one.
    private func piece(
        of file: OpenFile, from column: Int64, until end: Int64, _ level: ColumnLevels.Level
    ) throws -> [UInt8] {
        let most = Int64(max(1, Self.pieceByteCount / format.bytesPerColumn))
        let count = Int(min(most, end - column)) * format.bytesPerColumn
        let bytes = try files.read(file, at: frame.offset(of: level.first + column), count: count)
        // The file was cut after it was opened.
        guard bytes.count == count else { throw SpectraFrame.incomplete(path) }
        return bytes
    }
}
