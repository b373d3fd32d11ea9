// This is one file because generic code can only be proven free of allocations, when unoptimised, if it is compiled
// together with its callers.

/// Channels that are processed in parallel: 1, 2 or 4 samples of one frame.
///
/// Arithmetic that is generic over `SIMD` runs lane by lane. The requirements of this protocol become single
/// instructions once their callers are specialised. All are methods of a value, because a static method would pass a
/// metatype, which unoptimised code might have to allocate.
protocol Lanes {
    /// Returns the same number in every lane.
    func filled(with value: Double) -> Self
    /// Loads the samples at an address, which need not be aligned.
    func loaded(from samples: UnsafePointer<Double>) -> Self
    func store(to samples: UnsafeMutablePointer<Double>)
    /// Loads samples of 4 bytes. The shifts cut off the bits without signal and extend the sign.
    func words(from bytes: UnsafeRawPointer, up: Int32, down: Int32) -> Self
    /// Loads samples of 3 bytes, each together with the byte before it.
    func packed(behind bytes: UnsafeRawPointer) -> Self
    func plus(_ other: Self) -> Self
    func minus(_ other: Self) -> Self
    func times(_ other: Self) -> Self
    func least(_ other: Self) -> Self
    func greatest(_ other: Self) -> Self
}

// Safe in all three: the caller's address is valid for one sample per lane.

extension Double: Lanes {
    @inline(__always) @_noLocks @_noAllocation
    func filled(with value: Double) -> Double { value }
    @inline(__always) @_noLocks @_noAllocation
    func loaded(from samples: UnsafePointer<Double>) -> Double { unsafe samples.pointee }
    @inline(__always) @_noLocks @_noAllocation
    func store(to samples: UnsafeMutablePointer<Double>) { unsafe samples.pointee = self }
    @inline(__always) @_noLocks @_noAllocation
    func words(from bytes: UnsafeRawPointer, up: Int32, down: Int32) -> Double {
        Double((unsafe bytes.loadUnaligned(as: Int32.self) &<< up) &>> down)
    }
    @inline(__always) @_noLocks @_noAllocation
    func packed(behind bytes: UnsafeRawPointer) -> Double {
        Double(unsafe bytes.loadUnaligned(as: Int32.self) &>> 8)
    }
    @inline(__always) @_noLocks @_noAllocation
    func plus(_ other: Double) -> Double { self + other }
    @inline(__always) @_noLocks @_noAllocation
    func minus(_ other: Double) -> Double { self - other }
    @inline(__always) @_noLocks @_noAllocation
    func times(_ other: Double) -> Double { self * other }
    @inline(__always) @_noLocks @_noAllocation
    func least(_ other: Double) -> Double { other < self ? other : self }
    @inline(__always) @_noLocks @_noAllocation
    func greatest(_ other: Double) -> Double { other > self ? other : self }
}

extension SIMD2<Double>: Lanes {
    @inline(__always) @_noLocks @_noAllocation
    func filled(with value: Double) -> Self { Self(repeating: value) }
    @inline(__always) @_noLocks @_noAllocation
    func loaded(from samples: UnsafePointer<Double>) -> Self {
        unsafe UnsafeRawPointer(samples).loadUnaligned(as: Self.self)
    }
    @inline(__always) @_noLocks @_noAllocation
    func store(to samples: UnsafeMutablePointer<Double>) {
        unsafe UnsafeMutableRawPointer(samples).storeBytes(of: self, as: Self.self)
    }
    @inline(__always) @_noLocks @_noAllocation
    func words(from bytes: UnsafeRawPointer, up: Int32, down: Int32) -> Self {
        let words = unsafe bytes.loadUnaligned(as: SIMD2<Int32>.self)
        return Self((words &<< SIMD2<Int32>(repeating: up)) &>> SIMD2<Int32>(repeating: down))
    }
    @inline(__always) @_noLocks @_noAllocation
    func packed(behind bytes: UnsafeRawPointer) -> Self {
        let words = unsafe SIMD2<Int32>(
            bytes.loadUnaligned(fromByteOffset: 0, as: Int32.self),
            bytes.loadUnaligned(fromByteOffset: 3, as: Int32.self))
        return Self(words &>> SIMD2<Int32>(repeating: 8))
    }
    @inline(__always) @_noLocks @_noAllocation
    func plus(_ other: Self) -> Self { self + other }
    @inline(__always) @_noLocks @_noAllocation
    func minus(_ other: Self) -> Self { self - other }
    @inline(__always) @_noLocks @_noAllocation
    func times(_ other: Self) -> Self { self * other }
    @inline(__always) @_noLocks @_noAllocation
    func least(_ other: Self) -> Self { replacing(with: other, where: other .< self) }
    @inline(__always) @_noLocks @_noAllocation
    func greatest(_ other: Self) -> Self { replacing(with: other, where: other .> self) }
}

extension SIMD4<Double>: Lanes {
    @inline(__always) @_noLocks @_noAllocation
    func filled(with value: Double) -> Self { Self(repeating: value) }
    @inline(__always) @_noLocks @_noAllocation
    func loaded(from samples: UnsafePointer<Double>) -> Self {
        unsafe UnsafeRawPointer(samples).loadUnaligned(as: Self.self)
    }
    @inline(__always) @_noLocks @_noAllocation
    func store(to samples: UnsafeMutablePointer<Double>) {
        unsafe UnsafeMutableRawPointer(samples).storeBytes(of: self, as: Self.self)
    }
    @inline(__always) @_noLocks @_noAllocation
    func words(from bytes: UnsafeRawPointer, up: Int32, down: Int32) -> Self {
        let words = unsafe bytes.loadUnaligned(as: SIMD4<Int32>.self)
        return Self((words &<< SIMD4<Int32>(repeating: up)) &>> SIMD4<Int32>(repeating: down))
    }
    @inline(__always) @_noLocks @_noAllocation
    func packed(behind bytes: UnsafeRawPointer) -> Self {
        let words = unsafe SIMD4<Int32>(
            bytes.loadUnaligned(fromByteOffset: 0, as: Int32.self),
            bytes.loadUnaligned(fromByteOffset: 3, as: Int32.self),
            bytes.loadUnaligned(fromByteOffset: 6, as: Int32.self),
            bytes.loadUnaligned(fromByteOffset: 9, as: Int32.self))
        return Self(words &>> SIMD4<Int32>(repeating: 8))
    }
    @inline(__always) @_noLocks @_noAllocation
    func plus(_ other: Self) -> Self { self + other }
    @inline(__always) @_noLocks @_noAllocation
    func minus(_ other: Self) -> Self { self - other }
    @inline(__always) @_noLocks @_noAllocation
    func times(_ other: Self) -> Self { self * other }
    @inline(__always) @_noLocks @_noAllocation
    func least(_ other: Self) -> Self { replacing(with: other, where: other .< self) }
    @inline(__always) @_noLocks @_noAllocation
    func greatest(_ other: Self) -> Self { replacing(with: other, where: other .> self) }
}

/// One section's coefficients in the form that the kernel runs. `b0` is moved into `gain`, which leaves `b2 = 1`, and
/// `c1 = b1 − a1`, `c2 = 1 − a2`.
///
/// With these the section is `y = x + s1; s1' = (c1·x + s2) − a1·s1; s2' = c2·x − a2·s1`. From one frame to the next
/// the state waits for one product and one difference. The transposed direct form II waits for two sums and a product.
/// This wait, not the number of operations, limits the speed of a filter on one core.
struct Stage {
    var a1, a2, c1, c2: Double
    var gain: Double
}

/// A section in registers: coefficients and state, with one channel in each lane.
struct Running<Lane: Lanes> {
    let a1, a2, c1, c2: Lane
    var s1, s2: Lane

    @inline(__always)
    init(_ stage: Stage, like lane: Lane, state: UnsafePointer<Double>, channels: Int) {
        a1 = lane.filled(with: stage.a1)
        a2 = lane.filled(with: stage.a2)
        c1 = lane.filled(with: stage.c1)
        c2 = lane.filled(with: stage.c2)
        // Safe: a section's state is one row of s1 and one of s2.
        s1 = unsafe lane.loaded(from: state)
        s2 = unsafe lane.loaded(from: state + channels)
    }

    @inline(__always)
    mutating func step(_ x: Lane) -> Lane {
        let y = x.plus(s1)
        let next = c1.times(x).plus(s2).minus(a1.times(s1))
        s2 = c2.times(x).minus(a2.times(s1))
        s1 = next
        return y
    }

    @inline(__always)
    func save(to state: UnsafeMutablePointer<Double>, channels: Int) {
        unsafe s1.store(to: state)
        unsafe s2.store(to: state + channels)
    }
}

/// One pass of several sections over some channels of some frames: the buffers and their sizes.
@safe struct Pass {
    /// Points to the first section.
    var stages: UnsafePointer<Stage>
    var count: Int
    /// Points to the first section's state of the first channel. Each section has two rows of `channels`, s1 and s2.
    var state: UnsafeMutablePointer<Double>
    /// Points to the first frame's sample of the first channel.
    var samples: UnsafeMutablePointer<Double>
    /// The distance between frames, in samples.
    var channels: Int
    var frameCount: Int
    /// The result is multiplied by this.
    var gain: Double

    @_noLocks @_noAllocation
    init(
        stages: UnsafePointer<Stage>, count: Int, state: UnsafeMutablePointer<Double>,
        samples: UnsafeMutablePointer<Double>, channels: Int, frameCount: Int, gain: Double
    ) {
        unsafe self.stages = stages
        self.count = count
        unsafe self.state = state
        unsafe self.samples = samples
        self.channels = channels
        self.frameCount = frameCount
        self.gain = gain
    }

    // Safe in all of them: a pass stays within the buffers of its cascade and the caller's `frameCount` frames.

    @inline(__always)
    func running<Lane: Lanes>(_ index: Int, like lane: Lane) -> Running<Lane> {
        unsafe Running(stages[index], like: lane, state: state + 2 * index * channels, channels: channels)
    }

    @inline(__always)
    func save<Lane: Lanes>(_ section: Running<Lane>, _ index: Int) {
        unsafe section.save(to: state + 2 * index * channels, channels: channels)
    }

    @inline(__always)
    func one<Lane: Lanes>(_ gain: Lane) {
        var p = running(0, like: gain)
        var row = unsafe samples
        for _ in 0..<frameCount {
            unsafe p.step(gain.loaded(from: row)).times(gain).store(to: row)
            unsafe row += channels
        }
        save(p, 0)
    }

    @inline(__always)
    func two<Lane: Lanes>(_ gain: Lane) {
        var p = running(0, like: gain)
        var q = running(1, like: gain)
        var row = unsafe samples
        for _ in 0..<frameCount {
            unsafe q.step(p.step(gain.loaded(from: row))).times(gain).store(to: row)
            unsafe row += channels
        }
        save(p, 0)
        save(q, 1)
    }

    @inline(__always)
    func three<Lane: Lanes>(_ gain: Lane) {
        var p = running(0, like: gain)
        var q = running(1, like: gain)
        var r = running(2, like: gain)
        var row = unsafe samples
        for _ in 0..<frameCount {
            unsafe r.step(q.step(p.step(gain.loaded(from: row)))).times(gain).store(to: row)
            unsafe row += channels
        }
        save(p, 0)
        save(q, 1)
        save(r, 2)
    }

    @inline(__always)
    func four<Lane: Lanes>(_ gain: Lane) {
        var p = running(0, like: gain)
        var q = running(1, like: gain)
        var r = running(2, like: gain)
        var s = running(3, like: gain)
        var row = unsafe samples
        for _ in 0..<frameCount {
            unsafe s.step(r.step(q.step(p.step(gain.loaded(from: row))))).times(gain).store(to: row)
            unsafe row += channels
        }
        save(p, 0)
        save(q, 1)
        save(r, 2)
        save(s, 3)
    }
}

extension Pass {
    @_noLocks @_noAllocation
    func run1() {
        switch count {
        case 1: one(gain)
        case 2: two(gain)
        case 3: three(gain)
        default: four(gain)
        }
    }

    @_noLocks @_noAllocation
    func run2() {
        switch count {
        case 1: one(SIMD2(repeating: gain))
        case 2: two(SIMD2(repeating: gain))
        case 3: three(SIMD2(repeating: gain))
        default: four(SIMD2(repeating: gain))
        }
    }

    @_noLocks @_noAllocation
    func run4() {
        switch count {
        case 1: one(SIMD4(repeating: gain))
        default: two(SIMD4(repeating: gain))
        }
    }
}

/// The results of a scan: extremes and the sum of squares, one number for each channel.
@safe struct ScanResult {
    private let least: UnsafeMutablePointer<Double>
    private let greatest: UnsafeMutablePointer<Double>
    /// Squares are added in the order of the frames, so that the sum does not depend on the division into blocks.
    private let squares: UnsafeMutablePointer<Double>

    /// - Parameters:
    ///   - found: three rows of `channels` numbers: least, greatest, squares.
    ///   - channel: the first channel that is scanned.
    @_noLocks @_noAllocation
    init(in found: UnsafeMutablePointer<Double>, channels: Int, from channel: Int = 0) {
        // Safe, as all below: each row has one number for each channel.
        unsafe least = found + channel
        unsafe greatest = found + channels + channel
        unsafe squares = found + 2 * channels + channel
    }

    @inline(__always)
    func sum<Lane: Lanes>(_ lane: Lane) -> Lane { unsafe lane.loaded(from: squares) }

    @inline(__always)
    func store<Lane: Lanes>(least low: Lane, greatest high: Lane, sum: Lane) {
        unsafe low.store(to: least)
        unsafe high.store(to: greatest)
        unsafe sum.store(to: squares)
    }

    /// Updates the extremes and the sum of one channel.
    @inline(__always) @_noLocks @_noAllocation
    func widen(_ channel: Int, least low: Double, greatest high: Double, sum: Double) {
        if unsafe low < least[channel] { unsafe least[channel] = low }
        if unsafe high > greatest[channel] { unsafe greatest[channel] = high }
        unsafe squares[channel] += sum
    }

    /// Sets initial extremes, which any sample replaces.
    @inline(__always) @_noLocks @_noAllocation
    func reset(_ channel: Int, least low: Double, greatest high: Double) {
        unsafe least[channel] = low
        unsafe greatest[channel] = high
    }
}

/// Extremes and squares of some channels of some frames.
@safe struct Scan {
    /// Points to the first frame's sample of the first channel.
    var samples: UnsafePointer<Double>
    /// The distance between frames, in samples.
    var channels: Int
    var frameCount: Int
    var result: ScanResult

    /// Adding and then subtracting this number rounds any number smaller than 2⁵¹ to a whole number, ties to even.
    static var roundingBias: Double { @_noLocks @_noAllocation get { 6_755_399_441_055_744 } }

    @_noLocks @_noAllocation
    init(samples: UnsafePointer<Double>, channels: Int, frameCount: Int, into result: ScanResult) {
        unsafe self.samples = samples
        self.channels = channels
        self.frameCount = frameCount
        self.result = result
    }

    // Safe: the caller's buffers are as large as the properties state.

    @inline(__always)
    private func asTheyAre<Lane: Lanes>(_ zero: Lane) {
        guard frameCount > 0 else { return }
        var row = unsafe samples
        var low = unsafe zero.loaded(from: row)
        var high = low
        var sum = result.sum(zero)
        for _ in 0..<frameCount {
            let x = unsafe zero.loaded(from: row)
            low = low.least(x)
            high = high.greatest(x)
            sum = sum.plus(x.times(x))
            unsafe row += channels
        }
        result.store(least: low, greatest: high, sum: sum)
    }

    @inline(__always)
    private func rounded<Lane: Lanes>(_ bias: Lane) {
        guard frameCount > 0 else { return }
        var row = unsafe samples
        var low = unsafe bias.loaded(from: row).plus(bias).minus(bias)
        var high = low
        var sum = result.sum(bias)
        for _ in 0..<frameCount {
            let x = unsafe bias.loaded(from: row).plus(bias).minus(bias)
            low = low.least(x)
            high = high.greatest(x)
            sum = sum.plus(x.times(x))
            unsafe row += channels
        }
        result.store(least: low, greatest: high, sum: sum)
    }

    /// Scans one channel per lane; `lanes` is 1, 2 or 4.
    @_noLocks @_noAllocation
    func run(lanes: Int, rounding: Bool) {
        let bias = Self.roundingBias
        switch lanes {
        case 1: if rounding { rounded(bias) } else { asTheyAre(bias) }
        case 2: if rounding { rounded(SIMD2(repeating: bias)) } else { asTheyAre(SIMD2(repeating: bias)) }
        default: if rounding { rounded(SIMD4(repeating: bias)) } else { asTheyAre(SIMD4(repeating: bias)) }
        }
    }
}

/// Like `Scan`, for integers of 24 and 32 bits, from the card's bytes.
@safe struct WholeScan {
    /// Points to the first frame's sample of the first channel. The address need not be aligned.
    private let bytes: UnsafeRawPointer
    private let bytesPerFrame: Int
    private let frameCount: Int
    private let result: ScanResult

    @_noLocks @_noAllocation
    init(bytes: UnsafeRawPointer, bytesPerFrame: Int, frameCount: Int, into result: ScanResult) {
        unsafe self.bytes = bytes
        self.bytesPerFrame = bytesPerFrame
        self.frameCount = frameCount
        self.result = result
    }

    // Safe: the caller's buffers are as large as the properties state.

    @inline(__always)
    private func words<Lane: Lanes>(_ zero: Lane, up: Int32, down: Int32) {
        var row = unsafe bytes
        var low = unsafe zero.words(from: row, up: up, down: down)
        var high = low
        var sum = result.sum(zero)
        for _ in 0..<frameCount {
            let x = unsafe zero.words(from: row, up: up, down: down)
            low = low.least(x)
            high = high.greatest(x)
            sum = sum.plus(x.times(x))
            unsafe row += bytesPerFrame
        }
        result.store(least: low, greatest: high, sum: sum)
    }

    /// The first frame has no byte before it, so `first` was read together with the byte after it.
    @inline(__always)
    private func packed<Lane: Lanes>(_ zero: Lane, first: Lane) {
        var low = first
        var high = first
        var sum = result.sum(zero).plus(first.times(first))
        var row = unsafe bytes + (bytesPerFrame - 1)
        for _ in 1..<frameCount {
            let x = unsafe zero.packed(behind: row)
            low = low.least(x)
            high = high.greatest(x)
            sum = sum.plus(x.times(x))
            unsafe row += bytesPerFrame
        }
        result.store(least: low, greatest: high, sum: sum)
    }

    @inline(__always) @_noLocks @_noAllocation
    private func first(_ lane: Int) -> Double {
        Double((unsafe bytes.loadUnaligned(fromByteOffset: 3 &* lane, as: Int32.self) &<< 8) &>> 8)
    }

    /// Scans one channel per lane; `lanes` is 1, 2 or 4. Needs at least one frame.
    @_noLocks @_noAllocation
    func runWords(lanes: Int, up: Int32, down: Int32) {
        switch lanes {
        case 1: words(0.0, up: up, down: down)
        case 2: words(SIMD2<Double>(repeating: 0), up: up, down: down)
        default: words(SIMD4<Double>(repeating: 0), up: up, down: down)
        }
    }

    /// Like `runWords`, for samples of 3 bytes. Needs at least two frames.
    @_noLocks @_noAllocation
    func runPacked(lanes: Int) {
        switch lanes {
        case 1: packed(0.0, first: first(0))
        case 2: packed(SIMD2<Double>(repeating: 0), first: SIMD2(first(0), first(1)))
        default: packed(SIMD4<Double>(repeating: 0), first: SIMD4(first(0), first(1), first(2), first(3)))
        }
    }
}
