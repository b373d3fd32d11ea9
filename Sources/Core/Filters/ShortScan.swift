/// Extremes and squares of 16-bit samples, from the card's bytes. It processes 8 samples at a time, without floating
/// point.
@safe struct ShortScan {
    /// Interleaved frames. The address need not be aligned.
    private let bytes: UnsafeRawPointer
    private let channels: Int
    private let frameCount: Int
    /// All sums are integers below 2⁵³, so the order of the additions does not matter.
    private let result: ScanResult

    // Safe: the caller's buffers are as large as the properties state, and there are at most 2²⁰ frames.

    @_noLocks @_noAllocation
    init(bytes: UnsafeRawPointer, channels: Int, frameCount: Int, into result: ScanResult) {
        unsafe self.bytes = bytes
        self.channels = channels
        self.frameCount = frameCount
        self.result = result
    }

    @_noLocks @_noAllocation
    func run() {
        var channel = 0
        while channel < channels {
            result.reset(channel, least: 32767, greatest: -32768)
            channel &+= 1
        }
        // A row is the smallest number of vectors that ends with a whole frame. So each lane has the same channel in
        // all rows.
        let vectors = channels / Self.commonDivisor(channels)
        let sampleCount = frameCount &* channels
        let rows = sampleCount / (8 &* vectors)
        var vector = 0
        while vector < vectors, rows > 0 {
            column(vector, of: vectors, rows: rows)
            vector &+= 1
        }
        var index = 8 &* vectors &* rows
        channel = 0
        while index < sampleCount {
            let sample = unsafe bytes.loadUnaligned(fromByteOffset: 2 &* index, as: Int16.self)
            let wide = Int64(truncatingIfNeeded: sample)
            note(channel, sample, sample, squares: wide &* wide)
            index &+= 1
            channel = channel &+ 1 == channels ? 0 : channel &+ 1
        }
    }

    /// The greatest common divisor of the channels and the lanes of a vector.
    @_noLocks @_noAllocation
    private static func commonDivisor(_ channels: Int) -> Int {
        var divisor = 8
        while channels % divisor != 0 { divisor &>>= 1 }
        return divisor
    }

    /// Scans the vectors at one place of all rows.
    @_noLocks @_noAllocation
    private func column(_ vector: Int, of vectors: Int, rows: Int) {
        let stride = 16 &* vectors
        var place = unsafe bytes + 16 &* vector
        var low = unsafe place.loadUnaligned(as: SIMD8<Int16>.self)
        var high = low
        var sums = SIMD8<UInt64>()
        var row = 0
        while row &+ 2 <= rows {
            let x = unsafe place.loadUnaligned(as: SIMD8<Int16>.self)
            let y = unsafe (place + stride).loadUnaligned(as: SIMD8<Int16>.self)
            low = low.replacing(with: x, where: x .< low)
            high = high.replacing(with: x, where: x .> high)
            low = low.replacing(with: y, where: y .< low)
            high = high.replacing(with: y, where: y .> high)
            // The sum of two squares is at most 2³¹.
            sums &+= SIMD8(truncatingIfNeeded: Self.squares(x) &+ Self.squares(y))
            unsafe place += 2 &* stride
            row &+= 2
        }
        if row < rows {
            let x = unsafe place.loadUnaligned(as: SIMD8<Int16>.self)
            low = low.replacing(with: x, where: x .< low)
            high = high.replacing(with: x, where: x .> high)
            sums &+= SIMD8(truncatingIfNeeded: Self.squares(x))
        }
        var channel = 8 &* vector % channels
        var lane = 0
        while lane < 8 {
            note(channel, low[lane], high[lane], squares: Int64(truncatingIfNeeded: sums[lane]))
            lane &+= 1
            channel = channel &+ 1 == channels ? 0 : channel &+ 1
        }
    }

    @inline(__always) @_noLocks @_noAllocation
    private static func squares(_ samples: SIMD8<Int16>) -> SIMD8<UInt32> {
        let wide = SIMD8<Int32>(truncatingIfNeeded: samples)
        return SIMD8<UInt32>(truncatingIfNeeded: wide &* wide)
    }

    @inline(__always) @_noLocks @_noAllocation
    private func note(_ channel: Int, _ low: Int16, _ high: Int16, squares sum: Int64) {
        result.widen(
            channel, least: Double(Int32(truncatingIfNeeded: low)), greatest: Double(Int32(truncatingIfNeeded: high)),
            sum: Double(sum))
    }
}
