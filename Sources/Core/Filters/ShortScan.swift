/// Extremes and squares of samples of 16 bits, as the card delivers them: 8 samples at a time, without a number of floating point.
@safe struct ShortScan {
    /// Interleaved frames; their address need not be aligned.
    private let bytes: UnsafeRawPointer
    private let channels: Int
    private let frameCount: Int
    /// All sums are whole and below 2⁵³, so that the order does not matter.
    private let result: ScanResult

    // Safe: the caller's buffers hold what the properties say, and there are at most 2²⁰ frames.

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
        // A row is the fewest vectors that end with a frame: lane by lane, all rows hold the same channels.
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

    /// The greatest number that divides both the channels and the lanes of a vector.
    @_noLocks @_noAllocation
    private static func commonDivisor(_ channels: Int) -> Int {
        var divisor = 8
        while channels % divisor != 0 { divisor &>>= 1 }
        return divisor
    }

    /// The vectors at one place of all rows.
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
            // Two squares are at most 2³¹.
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
