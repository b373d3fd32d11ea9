import Spectra
public import Takes

/// A spectrogram that is asked for: a range of a take's timeline, in columns.
public struct PictureQuery: Hashable, Sendable {
    /// Frames of the take.
    public let range: Range<Int64>
    public let columns: Int
    /// Counted from 0.
    public let channel: Int
    public let detail: Detail
    /// The rate of the take.
    public let rateHz: Int

    public enum Detail: Hashable, Sendable {
        /// Columns of a tenth of a second or more, as the files of columns have them, with 256 rows.
        /// - Parameter window: the samples in a window at the take's rate.
        case coarse(window: Int)
        /// Shorter columns, which only the sound has. There are half as many rows as samples in a window.
        case fine(window: Int)
    }

    public static let mostColumns = 2000
    /// The most bytes of one picture: those of 512 columns with the longest window.
    public static let mostBytes = 1 << 21

    /// - Parameters:
    ///   - range: it is cut at the end of the take.
    ///   - window: for fine columns, the samples in a window: a power of two from 256 to 8192. Nil means the window of
    ///     the files of columns.
    /// - Throws: `ExportError`.
    public init(
        of sidecar: Sidecar, range: Range<Int64>, columns: Int, channel: Int, window: Int?
    ) throws(ExportError) {
        let take = sidecar.take
        let end = sidecar.parts.map { TakeSound.Part($0, of: sidecar).range.upperBound }.max() ?? 0
        self.range = range.lowerBound..<max(range.lowerBound, min(range.upperBound, end))
        guard range.lowerBound >= 0, !self.range.isEmpty else {
            throw ExportError(.usage, "spectrum: \(take) has frames 0 to \(end): from must lie before to")
        }
        guard (1...Self.mostColumns).contains(columns) else {
            throw ExportError(
                .usage, "spectrum: columns: found \(columns), allowed is a number from 1 to \(Self.mostColumns)")
        }
        guard (0..<sidecar.channels).contains(channel) else {
            throw ExportError(
                .usage,
                "spectrum: channel: found \(channel), \(take) has the channels 0 to \(sidecar.channels - 1)")
        }
        guard window.map({ (256...8192).contains($0) && $0.nonzeroBitCount == 1 }) ?? true else {
            throw ExportError(
                .usage, "spectrum: size: found \(window ?? 0), allowed are 256, 512, 1024, 2048, 4096, 8192")
        }
        let format: ColumnFormat
        do throws(SpectraError) {
            format = try ColumnFormat(rateHz: sidecar.rateHz, channels: sidecar.channels)
        } catch {
            throw ExportError(.take, "\(take): \(error)")
        }
        self.columns = columns
        self.channel = channel
        rateHz = sidecar.rateHz
        let isCoarse = Int64(self.range.count) * Int64(format.columnsPerSecond) >= Int64(columns * rateHz)
        detail = isCoarse ? .coarse(window: format.window) : .fine(window: window ?? format.window)
        if case .fine = detail, !isShort {
            throw ExportError(
                .usage,
                "spectrum: \(take): columns of less than a tenth of a second are made of at most \(SoundPicture.mostSeconds) s: "
                    + "ask for fewer columns, or a shorter range")
        }
        guard byteCount <= Self.mostBytes else {
            throw ExportError(
                .usage,
                "spectrum: \(columns) columns of \(rows) rows make \(byteCount) bytes, at most \(Self.mostBytes) are sent: "
                    + "ask for fewer columns, or a smaller size")
        }
    }

    /// Whether the picture may be made from the sound at once.
    public var isShort: Bool { Int64(range.count) <= Int64(SoundPicture.mostSeconds * rateHz) }

    /// The bytes of the picture's values.
    public var byteCount: Int { columns * rows }

    public var rows: Int {
        switch detail {
        case .coarse: ColumnFormat.bands
        case .fine(let window): window / 2
        }
    }

    /// The samples in a window at the take's rate.
    public var window: Int {
        switch detail {
        case .coarse(let window), .fine(let window): window
        }
    }

    /// The frames of the timeline that a column shows: at least one.
    func frames(of column: Int) -> Range<Int64> {
        func edge(_ column: Int) -> Int64 {
            range.lowerBound + Int64(column) * Int64(range.count) / Int64(columns)
        }
        return edge(column)..<max(edge(column) + 1, edge(column + 1))
    }

    /// Whether the range contains frames of a part.
    func touches(_ part: TakeSound.Part) -> Bool { part.range.overlaps(range) }

    /// The columns that show frames of a part, in runs. A column at the part's beginning or end that also shows other
    /// frames is a run of its own, so that all columns of a run have the same width.
    func runs(in part: Range<Int64>) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var isOpen = false
        for column in 0..<columns {
            let frames = frames(of: column)
            guard frames.overlaps(part) else { continue }
            let isWhole = frames.clamped(to: part) == frames
            if isWhole, isOpen, let last = runs.popLast() {
                runs.append(last.lowerBound..<column + 1)
            } else {
                runs.append(column..<column + 1)
            }
            isOpen = isWhole
        }
        return runs
    }
}
