public import Spectra
public import Takes

/// A spectrogram of a stretch of a day: the greatest of all takes and channels in each column.
public struct DayPicture: Sendable {
    /// The values of a column.
    public static let rows = ColumnFormat.bands

    private static let usualRateHz = 48_000

    /// The rate of a picture: the highest of the takes' rates that spectrograms have.
    public static func rateHz(of rates: [Int]) -> Int {
        rates.filter(ColumnFormat.rates.contains).max() ?? usualRateHz
    }

    private let columns: DayColumns
    private var picture: TakePicture
    private var soundSeconds = 0.0
    private var computedSeconds = 0.0

    /// A picture of silence.
    /// - Parameter rateHz: the rows divide the frequencies from 0 to half of it.
    /// - Throws: `SpectraError` if no spectrogram has this rate.
    public init(_ columns: DayColumns, rateHz: Int) throws(SpectraError) {
        self.columns = columns
        let format = try ColumnFormat(rateHz: rateHz, channels: 1)
        picture = TakePicture(
            columns: columns.count, rows: Self.rows, rateHz: rateHz, window: format.window,
            firstFrame: Int64(columns.stretch.lowerBound.rounded(.down)))
    }

    /// The share of the sound in the stretch whose columns are in the picture, 0 to 1.
    public var computed: Double { soundSeconds > 0 ? computedSeconds / soundSeconds : 1 }

    /// As `TakePicture.bytes`. The first frame is the beginning of the stretch in seconds since the day began.
    public var bytes: [UInt8] { picture.bytes }

    /// Raises the columns to those of a take.
    /// - Parameters:
    ///   - start: when the take began, in seconds since the day began.
    ///   - readers: one for each part, in order, or nil for a part without a file of columns.
    /// - Returns: whether the file of columns of a part in the stretch is missing, or cannot be read.
    public mutating func add(_ sidecar: Sidecar, at start: Double, _ readers: [SpectraReader?]) -> Bool {
        var lacks = false
        for (listed, reader) in zip(sidecar.parts, readers) {
            let part = TakeSound.Part(listed, of: sidecar)
            let time = part.time(ofTakeAt: start, rateHz: sidecar.rateHz)
            let shown = time.clamped(to: columns.stretch)
            guard !shown.isEmpty else { continue }
            soundSeconds += shown.upperBound - shown.lowerBound
            do {
                guard let reader else {
                    lacks = true
                    continue
                }
                try add(reader, time)
                computedSeconds += shown.upperBound - shown.lowerBound
            } catch {
                lacks = true
            }
        }
        return lacks
    }

    private mutating func add(_ reader: SpectraReader, _ time: Range<Double>) throws {
        let (rateHz, frames) = (reader.format.rateHz, reader.frames)
        guard frames > 0 else { return }
        let map = TakePicture.RowMap(picture, rows: ColumnFormat.bands, hasLast: false, rateHz: rateHz)
        for run in columns.runs(showing: time) {
            let first = columns.frames(of: run.lowerBound, in: time, rateHz: rateHz, frames: frames)
            let last = columns.frames(of: run.upperBound - 1, in: time, rateHz: rateHz, frames: frames)
            let found = try reader.picture(
                of: first.lowerBound..<last.upperBound, columns: run.count, channel: nil)
            picture.raise(run, to: found, by: map)
        }
    }
}
