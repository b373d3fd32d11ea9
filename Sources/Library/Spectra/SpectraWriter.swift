public import Files
public import Takes

/// Writes the file of columns of a sound while the sound is read. Not thread-safe.
///
/// The number of frames must be known before, as it is in the sidecar of a take, so that the coarser levels have their
/// place behind level 0 from the beginning, and nothing is read again. The file gets its name when it is whole. A writer
/// that is released before `finish` removes its draft.
public final class SpectraWriter {
    private enum State {
        case open(OpenFile)
        case ended
    }

    private let path: String
    private let files: FileSystem
    private let frame: SpectraFrame
    private var maker: ColumnMaker
    private var columns: [UInt8] = []
    private var levels: [OpenLevel]
    private var state: State

    /// A level that is written.
    private struct OpenLevel {
        let level: ColumnLevels.Level
        /// The number of columns in the file.
        var written: Int64 = 0
        /// Columns that are not yet in the file.
        var waiting: [UInt8] = []
        /// The greatest of the last columns of the level below, and their number.
        var column: [UInt8]
        var pooled = 0
    }

    /// The bytes of a level that wait before they are written.
    private static let waitingByteCount = 1 << 15

    /// The ending of a draft's name, behind the path of the future file.
    public static let draftEnding = ".tmp"

    private static func draft(_ path: String) -> String { path + draftEnding }

    /// The length of the file of a sound.
    /// - Throws: `SpectraError` if a number is out of range.
    public static func byteCount(of sound: StreamFormat, frames: Int64) throws(SpectraError) -> Int64 {
        try SpectraFrame(
            ColumnFormat(rateHz: sound.rateHz, channels: sound.channels), frames: frames
        ).byteCount
    }

    /// Begins a file.
    /// - Parameters:
    ///   - path: the future path of the file. An existing one is replaced at the end.
    ///   - sound: the layout of the bytes that follow.
    ///   - frames: the number of frames that follow.
    /// - Throws: `SpectraError` if a number is out of range; `FileError`.
    public init(_ path: String, sound: StreamFormat, frames: Int64, files: FileSystem = FileSystem()) throws {
        self.path = path
        self.files = files
        maker = try ColumnMaker(sound)
        let format = maker.format
        frame = try SpectraFrame(format, frames: frames)
        levels = frame.levels.levels.map {
            OpenLevel(level: $0, column: [UInt8](repeating: 0, count: format.bytesPerColumn))
        }
        do {
            state = .open(try files.create(Self.draft(path), isNew: false, mode: 0o600))
        } catch {
            try? files.remove(Self.draft(path))
            throw error
        }
        if case .open(let file) = state { try files.write(frame.head, to: file, at: 0) }
    }

    deinit {
        if case .open = state { try? files.remove(Self.draft(path)) }
    }

    /// Adds sound.
    /// - Parameter bytes: interleaved samples, as in the `data` chunk of a WAV file. A frame may be divided between two
    ///   calls.
    /// - Throws: `FileError`; `SpectraError` if there is more sound than stated. The file can then not be finished.
    public func append(_ bytes: RawSpan) throws {
        maker.append(bytes, to: &columns)
        try distribute()
    }

    /// Completes the file, syncs it, and gives it its name.
    /// - Parameter sha256: the fingerprint of the sound, 64 lower-case hexadecimal digits.
    /// - Throws: `FileError`; `SpectraError` if there was not as much sound as stated.
    public func finish(sha256: String) throws {
        guard SpectraFrame.isFingerprint(sha256.utf8) else {
            throw SpectraError(.usage, "spectrum: \(path): the fingerprint \(sha256) does not have 64 digits")
        }
        guard case .open(let file) = state, maker.frames == frame.frames else { throw otherLength }
        maker.finish(to: &columns)
        try distribute()
        for index in levels.indices {
            if levels[index].pooled > 0 { try complete(index) }
            try write(index, to: file)
            guard levels[index].written == levels[index].level.count else { throw otherLength }
        }
        // The end mark must not be on the disk before the columns.
        try files.syncData(file)
        try files.write(frame.end(sha256: sha256), to: file, at: frame.offset(of: frame.levels.total))
        try files.move(Self.draft(path), to: path)
        state = .ended
    }

    private var otherLength: SpectraError {
        SpectraError(
            .sound, "spectrum: \(path): the sound has \(maker.frames) frames, and was stated to have \(frame.frames)")
    }

    /// Passes the new columns to level 0, and through it to the others.
    private func distribute() throws {
        defer { columns.removeAll(keepingCapacity: true) }
        let size = frame.format.bytesPerColumn
        for start in stride(from: 0, to: columns.count, by: size) {
            for index in 0..<size { levels[0].column[index] = columns[start + index] }
            try complete(0)
        }
    }

    /// Adds the column of a level to the level's file, and to the column of the next level.
    private func complete(_ index: Int) throws {
        guard case .open(let file) = state else { throw otherLength }
        levels[index].waiting += levels[index].column
        let next = index + 1
        if next < levels.count {
            for place in levels[index].column.indices {
                levels[next].column[place] = max(levels[next].column[place], levels[index].column[place])
            }
            levels[next].pooled += 1
        }
        for place in levels[index].column.indices { levels[index].column[place] = 0 }
        levels[index].pooled = 0
        if levels[index].waiting.count >= Self.waitingByteCount { try write(index, to: file) }
        if next < levels.count, levels[next].pooled == levels[next].level.factor { try complete(next) }
    }

    /// Writes the columns of a level that wait.
    private func write(_ index: Int, to file: OpenFile) throws {
        let level = levels[index]
        let count = Int64(level.waiting.count / frame.format.bytesPerColumn)
        guard level.written + count <= level.level.count else { throw otherLength }
        try files.write(level.waiting, to: file, at: frame.offset(of: level.level.first + level.written))
        levels[index].written += count
        levels[index].waiting.removeAll(keepingCapacity: true)
    }
}
