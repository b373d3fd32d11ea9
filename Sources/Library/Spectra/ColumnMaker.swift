public import Takes

/// Makes the columns of a sound from its bytes, from the first to the last. It needs memory for two and a half windows
/// of each channel, and allocates nothing while sound passes.
public struct ColumnMaker {
    private typealias Lanes = RealTransform.Lanes

    public let format: ColumnFormat
    /// The frames so far.
    public private(set) var frames: Int64 = 0

    private let sound: StreamFormat
    private let transform: RealTransform
    /// For each channel, the frames of the next four windows.
    private var planes: [Float]
    /// The frames of a channel: their number when all four windows are complete, and now.
    private let capacity: Int
    private var filled: Int
    /// The next window. Its middle is at frame `window` · hop.
    private var window: Int64 = 0
    /// The column that is not complete yet, and for each channel its power in each band. The power at half the rate
    /// follows behind the last band.
    private var column: Int64 = 0
    private var sums: [Lanes]
    /// The bands of four windows that belong to several columns.
    private var fresh: [Lanes]
    /// The first bytes of a frame whose other bytes are still missing.
    private var rest: [UInt8] = []

    private static let rows = ColumnFormat.bands + 1

    /// - Parameter sound: the layout of the bytes.
    /// - Throws: `SpectraError` if the rate or the number of channels is out of range.
    public init(_ sound: StreamFormat, columnsPerSecond: Int = 10) throws(SpectraError) {
        format = try ColumnFormat(
            rateHz: sound.rateHz, channels: sound.channels, columnsPerSecond: columnsPerSecond)
        self.sound = sound
        transform = RealTransform(length: format.window)
        capacity = format.window + 3 * format.hop
        // Before the first frame is silence, so that its window is the first one.
        filled = format.window / 2
        planes = [Float](repeating: 0, count: capacity * format.channels)
        sums = [Lanes](repeating: Lanes(), count: Self.rows * format.channels)
        fresh = [Lanes](repeating: Lanes(), count: Self.rows)
        rest.reserveCapacity(sound.bytesPerFrame)
    }

    /// Adds sound.
    /// - Parameters:
    ///   - bytes: interleaved samples. A frame may be divided between two calls.
    ///   - columns: the columns that are now complete are appended. A column has 256 values for the first channel, from
    ///     the lowest frequency to the highest, then 256 for the second, and so on.
    public mutating func append(_ bytes: RawSpan, to columns: inout [UInt8]) {
        let size = sound.bytesPerFrame
        var start = 0
        if !rest.isEmpty {
            start = min(size - rest.count, bytes.byteCount)
            keep(bytes.extracting(0..<start))
            guard rest.count == size else { return }
            var frame: [UInt8] = []
            swap(&frame, &rest)
            frame.withRawSpan { add($0, to: &columns) }
            frame.removeAll(keepingCapacity: true)
            swap(&frame, &rest)
        }
        let end = start + (bytes.byteCount - start) / size * size
        add(bytes.extracting(start..<end), to: &columns)
        keep(bytes.extracting(end..<bytes.byteCount))
    }

    /// Appends the columns up to the last frame, as if silence followed. Nothing may be added afterwards.
    public mutating func finish(to columns: inout [UInt8]) {
        let count = format.columnCount(frames: frames)
        guard count > 0 else { return }
        let hop = Int64(format.hop)
        // The window with its middle at or behind the end also contains the last frames.
        let last = (frames + hop - 1) / hop
        while window <= last {
            for channel in 0..<format.channels {
                for index in filled..<capacity { planes[channel * capacity + index] = 0 }
            }
            filled = capacity
            pass(windows: Int(min(4, last - window + 1)), lastColumn: count - 1, to: &columns)
        }
        let start = columns.count
        columns.append(contentsOf: repeatElement(0, count: format.bytesPerColumn))
        for channel in 0..<format.channels { close(channel, to: &columns, at: start + channel * ColumnFormat.bands) }
    }

    private mutating func keep(_ bytes: RawSpan) {
        // Safe: the bytes are read during the call.
        unsafe bytes.withUnsafeBytes { unsafe rest.append(contentsOf: $0) }
    }

    /// Adds whole frames.
    private mutating func add(_ bytes: RawSpan, to columns: inout [UInt8]) {
        let size = sound.bytesPerFrame
        var start = 0
        while start < bytes.byteCount {
            let count = min(capacity - filled, (bytes.byteCount - start) / size)
            let piece = bytes.extracting(start..<start + count * size)
            for channel in 0..<format.channels {
                ChannelSamples.copy(piece, sound, channel: channel, to: &planes, at: channel * capacity + filled)
            }
            start += count * size
            filled += count
            frames += Int64(count)
            if filled == capacity { pass(windows: 4, lastColumn: .max, to: &columns) }
        }
    }

    /// Transforms the next windows, and appends the columns that they complete.
    /// - Parameters:
    ///   - windows: 1 to 4.
    ///   - lastColumn: the windows behind it count for it.
    private mutating func pass(windows: Int, lastColumn: Int64, to columns: inout [UInt8]) {
        let hop = format.hop
        var owners = SIMD4<Int64>()
        for lane in 0..<4 {
            owners[lane] = min(lastColumn, format.column(at: (window + Int64(lane)) * Int64(hop)))
        }
        let complete = Int(owners[windows - 1] - column)
        let start = columns.count
        columns.append(contentsOf: repeatElement(0, count: complete * format.bytesPerColumn))
        for channel in 0..<format.channels {
            let first = channel * capacity
            transform.transform(planes.span, at: SIMD4(first, first + hop, first + 2 * hop, first + 3 * hop))
            if windows == 4, complete == 0 {
                transform.pool(into: &sums, at: channel * Self.rows, shift: format.shift)
                continue
            }
            for row in 0..<Self.rows { fresh[row] = Lanes() }
            transform.pool(into: &fresh, at: 0, shift: format.shift)
            var (lane, owner) = (0, column)
            while lane < windows {
                // Each column has a window.
                if owners[lane] != owner {
                    let place = start + Int(owner - column) * format.bytesPerColumn + channel * ColumnFormat.bands
                    close(channel, to: &columns, at: place)
                    owner += 1
                    continue
                }
                var mask = SIMDMask<SIMD4<Int32>>(repeating: false)
                while lane < windows, owners[lane] == owner {
                    mask[lane] = true
                    lane += 1
                }
                merge(mask, channel)
            }
        }
        column = owners[windows - 1]
        window += 4
        let (length, done) = (capacity, 4 * hop)
        // Safe: the channel's frames are moved within the channel.
        unsafe planes.withUnsafeMutableBufferPointer { planes in
            guard let first = planes.baseAddress else { return }
            for channel in 0..<format.channels {
                let plane = unsafe first + channel * length
                unsafe plane.update(from: plane + done, count: length - done)
            }
        }
        filled = capacity - done
    }

    /// Raises the column that is not complete to some windows.
    private mutating func merge(_ windows: SIMDMask<SIMD4<Int32>>, _ channel: Int) {
        let first = channel * Self.rows
        for row in 0..<Self.rows {
            let (sum, power) = (sums[first + row], fresh[row])
            sums[first + row] = sum.replacing(with: power, where: windows .& (power .> sum))
        }
    }

    /// Writes the values of a complete column, and begins the next one.
    private mutating func close(_ channel: Int, to columns: inout [UInt8], at place: Int) {
        let first = channel * Self.rows
        let last = first + ColumnFormat.bands
        sums[last - 1] = greater(sums[last - 1], sums[last])
        for row in stride(from: 0, to: ColumnFormat.bands, by: 4) {
            let (a, b, c, d) = (sums[first + row], sums[first + row + 1], sums[first + row + 2], sums[first + row + 3])
            let values = Decibels.values(
                of: greater(
                    greater(Lanes(a[0], b[0], c[0], d[0]), Lanes(a[1], b[1], c[1], d[1])),
                    greater(Lanes(a[2], b[2], c[2], d[2]), Lanes(a[3], b[3], c[3], d[3]))))
            for lane in 0..<4 { columns[place + row + lane] = values[lane] }
        }
        for row in 0..<Self.rows { sums[first + row] = Lanes() }
    }

    @inline(__always)
    private func greater(_ one: Lanes, _ other: Lanes) -> Lanes { one.replacing(with: other, where: other .> one) }
}
