/// A chain of sections with the state of each channel, in double precision.
///
/// Coefficients come from a design and may be replaced; state belongs to the sound that has passed. Channels are
/// filtered in groups of four, two and one, and up to four sections at a time stay in registers.
@safe public final class Cascade {
    /// Samples a frame.
    public let channels: Int
    /// How many sections the loaded design has; 0: the signal passes unchanged.
    public private(set) var sectionCount = 0

    private static let mostSections = 8
    private let stages: UnsafeMutablePointer<Stage>
    /// For each section a row of s1 and a row of s2, a column a channel.
    private let state: UnsafeMutablePointer<Double>
    private var gain = 1.0

    /// A cascade at rest.
    public init(_ design: FilterDesign, channels: Int) {
        self.channels = channels
        // Safe: allocated here, freed in deinit; every access below stays below mostSections and channels.
        unsafe stages = .allocate(capacity: Self.mostSections)
        unsafe stages.initialize(
            repeating: Stage(a1: 0, a2: 0, c1: 0, c2: 0, gain: 1), count: Self.mostSections)
        unsafe state = .allocate(capacity: Self.mostSections * 2 * channels)
        unsafe state.initialize(repeating: 0, count: Self.mostSections * 2 * channels)
        load(design)
    }

    deinit {
        unsafe stages.deallocate()
        unsafe state.deallocate()
    }

    /// Takes over a design's coefficients and forgets what has passed.
    public func load(_ design: FilterDesign) {
        sectionCount = 0
        gain = 1
        for filter in design.filters {
            for stage in filter.stages {
                unsafe stages[sectionCount] = stage
                gain *= stage.gain
                sectionCount += 1
            }
        }
        unsafe state.update(repeating: 0, count: Self.mostSections * 2 * channels)
    }

    /// Filters whole frames of interleaved samples in place.
    public func process(_ samples: inout MutableSpan<Double>) {
        unsafe samples.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            unsafe run(start, frameCount: buffer.count / channels)
        }
    }

    /// Filters frames of interleaved samples in place.
    @_noLocks @_noAllocation
    func run(_ samples: UnsafeMutablePointer<Double>, frameCount: Int) {
        let channels = channels
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
