/// A chain of sections with the state of each channel, in double precision.
///
/// Coefficients come from a design and may be replaced. State belongs to the sound that has passed. Channels are
/// filtered in groups of four, two and one, and up to four sections at a time stay in registers.
@safe public struct Cascade: ~Copyable {
    public let channels: Int
    /// The number of sections. With 0 the signal passes unchanged.
    public private(set) var sectionCount = 0

    private var gain = 1.0
    private let stages: UnsafeMutablePointer<Stage>
    /// For each section a row of s1 and a row of s2, with a column for each channel.
    private let state: UnsafeMutablePointer<Double>

    /// A state below this is set to zero. It lies 600 dB below full scale: a section's state is at least as large as
    /// the samples, whatever the cutoff, because the gain is applied last.
    static var negligible: Double { @_noLocks @_noAllocation get { 1e-30 } }

    public init(_ design: FilterDesign, channels: Int) {
        self.channels = channels
        // Safe: allocated here and freed in deinit. Every access below stays within mostStages and channels.
        let most = Coefficients.mostStages
        unsafe stages = .allocate(capacity: most)
        unsafe stages.initialize(repeating: Stage(a1: 0, a2: 0, c1: 0, c2: 0, gain: 1), count: most)
        unsafe state = .allocate(capacity: most * 2 * channels)
        unsafe state.initialize(repeating: 0, count: most * 2 * channels)
        let coefficients = Coefficients(design)
        sectionCount = coefficients.count
        gain = coefficients.gain
        for index in 0..<sectionCount { unsafe stages[index] = coefficients.stages[index] }
    }

    deinit {
        unsafe stages.deallocate()
        unsafe state.deallocate()
    }

    /// Filters whole frames of interleaved samples in place.
    public mutating func process(_ samples: inout MutableSpan<Double>) {
        unsafe samples.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            unsafe run(start, frameCount: buffer.count / channels)
        }
    }

    /// Replaces the coefficients and resets the state.
    @_noLocks @_noAllocation
    mutating func load(_ coefficients: borrowing Coefficients) {
        sectionCount = coefficients.count
        gain = coefficients.gain
        var index = 0
        while index < sectionCount {
            unsafe stages[index] = coefficients.stages[index]
            index += 1
        }
        index = 0
        while index < sectionCount * 2 * channels {
            unsafe state[index] = 0
            index += 1
        }
    }

    /// Sets decayed states to zero, so that silence does not leave a denormal number in them.
    ///
    /// Must be called at least every 256 frames. Every pole of a Butterworth filter of order 8 has a magnitude of at
    /// least 0.098 (at a quarter of the rate), and 0.098²⁵⁶ is 1e-258. So a state that was above `negligible` at the
    /// last call is still far above the smallest normal number, 2e-308.
    @_noLocks @_noAllocation
    mutating func settle() {
        var index = 0
        while index < sectionCount * 2 * channels {
            let value = unsafe state[index]
            if value < Self.negligible && value > -Self.negligible { unsafe state[index] = 0 }
            index += 1
        }
    }

    /// The smallest absolute state other than zero, or infinity if all are zero. For tests.
    var smallestState: Double {
        var smallest = Double.infinity
        for index in 0..<sectionCount * 2 * channels {
            let size = unsafe abs(state[index])
            if size > 0 { smallest = min(smallest, size) }
        }
        return smallest
    }

    @_noLocks @_noAllocation
    mutating func run(_ samples: UnsafeMutablePointer<Double>, frameCount: Int) {
        var first = 0
        while first < channels {
            let left = channels - first
            if left >= 4 {
                // Two sections of four channels fill the registers.
                unsafe run(samples, frameCount: frameCount, from: first, sectionsAtOnce: 2, lanes: 4)
                first += 4
            } else if left >= 2 {
                unsafe run(samples, frameCount: frameCount, from: first, sectionsAtOnce: 4, lanes: 2)
                first += 2
            } else {
                unsafe run(samples, frameCount: frameCount, from: first, sectionsAtOnce: 4, lanes: 1)
                first += 1
            }
        }
    }

    @_noLocks @_noAllocation
    private func run(
        _ samples: UnsafeMutablePointer<Double>, frameCount: Int, from channel: Int, sectionsAtOnce: Int, lanes: Int
    ) {
        var done = 0
        while done < sectionCount {
            let count = min(sectionsAtOnce, sectionCount - done)
            let pass = unsafe Pass(
                stages: stages + done, count: count, state: state + done * 2 * channels + channel,
                samples: samples + channel, channels: channels, frameCount: frameCount,
                gain: done + count == sectionCount ? gain : 1)
            switch lanes {
            case 1: pass.run1()
            case 2: pass.run2()
            default: pass.run4()
            }
            done += count
        }
    }
}
