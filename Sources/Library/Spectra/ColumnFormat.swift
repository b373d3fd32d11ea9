/// What the columns of a spectrogram are.
///
/// A column is the greatest power of all windows whose middle is in its time, in each of 256 bands, as `Decibels`. The
/// bands divide the frequencies from 0 to half the rate evenly. Windows begin at most half a window after each other, so
/// that each frame of the sound is in two of them, and an event of any length is at most 6 dB weaker than in the middle
/// of a window.
public struct ColumnFormat: Hashable, Sendable {
    public static let bands = 256
    public static let rates = 1000...1_000_000
    public static let channelCounts = 1...1024
    public static let columnRates = 1...100
    static let windows = 512...8192

    public let rateHz: Int
    public let channels: Int
    /// Columns in a second of sound.
    public let columnsPerSecond: Int
    /// Frames in a window, a power of two.
    public let window: Int

    /// - Parameter columnsPerSecond: 10 for files, 20 for live sound.
    /// - Throws: `SpectraError` if a number is out of range.
    public init(rateHz: Int, channels: Int, columnsPerSecond: Int = 10) throws(SpectraError) {
        try self.init(
            rateHz: rateHz, channels: channels, columnsPerSecond: columnsPerSecond,
            window: Self.window(rateHz: rateHz))
    }

    init(rateHz: Int, channels: Int, columnsPerSecond: Int, window: Int) throws(SpectraError) {
        self.rateHz = try Self.checked(rateHz, in: Self.rates, "rate in hertz")
        self.channels = try Self.checked(channels, in: Self.channelCounts, "number of channels")
        self.columnsPerSecond = try Self.checked(columnsPerSecond, in: Self.columnRates, "number of columns a second")
        self.window = try Self.checked(window, in: Self.windows, "number of frames in a window")
        guard window.nonzeroBitCount == 1 else {
            throw SpectraError(.usage, "spectrum: a window has \(window) frames, which is not a power of two")
        }
    }

    private static func checked(
        _ number: Int, in range: ClosedRange<Int>, _ name: StaticString
    ) throws(SpectraError) -> Int {
        guard range.contains(number) else {
            throw SpectraError(
                .usage, "spectrum: the \(name) is \(number), \(range.lowerBound) to \(range.upperBound) are allowed")
        }
        return number
    }

    /// The window for a rate: 21 ms at 48 kHz, 5 ms at 384 kHz.
    private static func window(rateHz: Int) -> Int {
        switch rateHz {
        case ...24_000: 512
        case ...96_000: 1024
        default: 2048
        }
    }

    /// Frames from the middle of a window to that of the next one. Each column has the middle of at least one window.
    public var hop: Int { min(window / 2, rateHz / columnsPerSecond) }

    /// 2 to the power of this is the number of bins in a band.
    var shift: Int { (window / 2 / Self.bands).trailingZeroBitCount }

    /// The bytes of a column of all channels.
    var bytesPerColumn: Int { Self.bands * channels }

    /// The column that contains a frame.
    public func column(at frame: Int64) -> Int64 { frame * Int64(columnsPerSecond) / Int64(rateHz) }

    /// The columns of a sound. The last one may be shorter.
    public func columnCount(frames: Int64) -> Int64 { frames > 0 ? column(at: frames - 1) + 1 : 0 }
}
