/// Adds extremes, sums and squares of some channels to those of earlier frames.
@safe struct BlockSum {
    /// Points to the first frame's sample of the first channel.
    var samples: UnsafePointer<Double>
    /// The distance between frames, in samples.
    var channels: Int
    var frameCount: Int
    /// The first channel's results, in rows of `channels`: least, greatest, sum, squares.
    var sums: UnsafeMutablePointer<Double>

    init(
        samples: UnsafePointer<Double>, channels: Int, frameCount: Int, sums: UnsafeMutablePointer<Double>
    ) {
        unsafe self.samples = samples
        self.channels = channels
        self.frameCount = frameCount
        unsafe self.sums = sums
    }

    // Safe: the caller's buffers are as large as the properties state.

    @inline(__always)
    private func add<Lane: Lanes>(_ lane: Lane) {
        var row = unsafe samples
        var low = unsafe lane.loaded(from: sums)
        var high = unsafe lane.loaded(from: sums + channels)
        var sum = unsafe lane.loaded(from: sums + 2 * channels)
        var squares = unsafe lane.loaded(from: sums + 3 * channels)
        for _ in 0..<frameCount {
            let x = unsafe lane.loaded(from: row)
            low = low.least(x)
            high = high.greatest(x)
            sum = sum.plus(x)
            squares = squares.plus(x.times(x))
            unsafe row += channels
        }
        unsafe low.store(to: sums)
        unsafe high.store(to: sums + channels)
        unsafe sum.store(to: sums + 2 * channels)
        unsafe squares.store(to: sums + 3 * channels)
    }

    /// Adds one channel per lane; `lanes` is 1, 2 or 4.
    func run(lanes: Int) {
        switch lanes {
        case 1: add(0.0)
        case 2: add(SIMD2<Double>.zero)
        default: add(SIMD4<Double>.zero)
        }
    }
}
