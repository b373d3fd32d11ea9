import TakeFiles

/// A spectrogram of a range of a take.
public struct TakePicture: Hashable, Sendable {
    public let columns: Int
    public let rows: Int
    /// The rate of the take. The rows divide the frequencies from 0 to half of it evenly.
    public let rateHz: Int
    /// Samples in a window.
    public let window: Int
    /// The first frame of the first column.
    public let firstFrame: Int64
    /// `rows` values for each column, as `Decibels`, from the lowest frequency to the highest, column after column.
    public private(set) var values: [UInt8]

    /// A picture of silence.
    init(_ query: PictureQuery) {
        self.init(
            columns: query.columns, rows: query.rows, rateHz: query.rateHz, window: query.window,
            firstFrame: query.range.lowerBound)
    }

    /// A picture of silence.
    init(columns: Int, rows: Int, rateHz: Int, window: Int, firstFrame: Int64) {
        self.columns = columns
        self.rows = rows
        self.rateHz = rateHz
        self.window = window
        self.firstFrame = firstFrame
        values = [UInt8](repeating: 0, count: columns * rows)
    }

    /// The picture for a browser: 32 bytes, little-endian, then the values.
    ///
    /// | offset | |
    /// |---|---|
    /// | 0 | `FFSPECT1` |
    /// | 8 | columns, 32 bits |
    /// | 12 | rows, 32 bits |
    /// | 16 | rate in hertz, 32 bits |
    /// | 20 | samples in a window, 32 bits |
    /// | 24 | first frame, signed 64 bits |
    public var bytes: [UInt8] {
        var bytes = Array("FFSPECT1".utf8)
        bytes.reserveCapacity(32 + values.count)
        for number in [columns, rows, rateHz, window] { bytes.append(littleEndian: UInt32(clamping: number)) }
        bytes.append(littleEndian: firstFrame)
        return bytes + values
    }

    /// Raises columns to those of a part.
    /// - Parameters:
    ///   - found: the part's values, column after column.
    ///   - columns: the column of the picture for each of the part's columns. Several may be the same.
    mutating func raise(_ columns: some Collection<Int>, to found: [UInt8], by map: RowMap) {
        for (index, column) in columns.enumerated() {
            let start = index * map.stored
            for (row, sources) in map.sources.enumerated() {
                var value = values[column * rows + row]
                for source in sources { value = max(value, found[start + source]) }
                values[column * rows + row] = value
            }
        }
    }

    /// The rows of a part for each row of the picture. A part may have another rate than the take.
    ///
    /// A row of the picture shows the greatest value of all rows of the part that share a frequency with it. Frequencies
    /// that the part cannot have are silent.
    struct RowMap {
        /// The part's values in a column.
        let stored: Int
        let sources: [Range<Int>]

        /// - Parameters:
        ///   - rows: the rows that divide the frequencies of the part evenly.
        ///   - hasLast: whether a value for half the rate itself follows. It counts for the last row.
        init(_ picture: TakePicture, rows: Int, hasLast: Bool, rateHz: Int) {
            let count = hasLast ? rows + 1 : rows
            let (part, whole) = (rows * picture.rateHz, picture.rows * rateHz)
            stored = count
            sources = (0..<picture.rows).map { row in
                let lower = row * part / whole
                let upper = ((row + 1) * part + whole - 1) / whole
                guard lower < rows else { return 0..<0 }
                return lower..<(upper < rows ? upper : count)
            }
        }
    }
}
