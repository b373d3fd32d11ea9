public import Takes

/// The path of a take's sound from the card's bytes to the file's: filtered, rounded and measured in one pass.
///
/// With the filter off, the significant bits are stored as they are (see `StreamFormat.stored`). With the filter on,
/// whole numbers are rounded to the file's bits and saturate; float is stored as the filter gives it, beyond ±1 as well, since
/// float cannot wrap. The result does not depend on how the sound is cut into calls. To be used by one thread at a time.
@safe public final class SignalPath {
    /// What the card delivers.
    public let format: StreamFormat
    /// The filter in force, or the one that is coming into force.
    public private(set) var design: FilterDesign

    private let coding: SampleCoding
    private let channels: Int
    private let bytesPerFrameIn: Int
    private let bytesPerFrameOut: Int
    /// Frames that are worked on at a time; they divide a pixel, and fit into a processor's nearest cache.
    private let chunkFrames: Int
    private let samples: UnsafeMutablePointer<Double>
    private let otherSamples: UnsafeMutablePointer<Double>

    private var meter: Meter
    private var first: Cascade
    private var second: Cascade
    /// Which of the two is in force; during a change the other one follows.
    private var firstIsInForce = true
    private var change: CrossFade?
    /// The filter after the change that is under way.
    private var coming: FilterDesign
    /// The change that was requested during a change, and begins after it.
    private var next: (design: FilterDesign, coefficients: Coefficients)?

    /// Frames of a pixel of the waveform.
    public static var framesPerPixel: Int { Meter.framesPerPixel }

    /// A path at rest.
    public init(format: StreamFormat, design: FilterDesign) {
        self.format = format
        self.design = design
        coming = design
        coding = SampleCoding(format)
        channels = format.channels
        bytesPerFrameIn = format.bytesPerFrame
        bytesPerFrameOut = format.stored.bytesPerFrame
        chunkFrames = format.channels <= 8 ? Meter.framesPerPixel : Meter.framesPerPixel / 4
        // Safe: allocated here with these sizes, freed in deinit, and a chunk has at most chunkFrames.
        unsafe samples = .allocate(capacity: chunkFrames * channels)
        unsafe samples.initialize(repeating: 0, count: chunkFrames * channels)
        unsafe otherSamples = .allocate(capacity: chunkFrames * channels)
        unsafe otherSamples.initialize(repeating: 0, count: chunkFrames * channels)
        meter = Meter(format)
        first = Cascade(design, channels: channels)
        second = Cascade(.off(rateHz: format.rateHz), channels: channels)
    }

    deinit {
        unsafe samples.deallocate()
        unsafe otherSamples.deallocate()
    }

    /// Processes whole frames.
    /// - Parameters:
    ///   - input: frames as the card delivered them, interleaved; a frame that is not whole is left out.
    ///   - output: room for as many frames in the stored layout; must not overlap `input`.
    /// - Returns: bytes written.
    public func process(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
        let frameCount = input.count / bytesPerFrameIn
        precondition(output.count >= frameCount * bytesPerFrameOut, "no room for the stored frames")
        guard frameCount > 0, let source = input.baseAddress, let target = output.baseAddress else { return 0 }
        meter.reserve(frameCount: frameCount)
        unsafe pass(source, into: target, frameCount: frameCount)
        return frameCount * bytesPerFrameOut
    }

    /// Processes whole frames, and copies them only if they are stored in another way than the card delivered them.
    /// - Parameters: as of `process(_:into:)`.
    /// - Returns: the stored frames: `input`, or what was written to `output`.
    public func process(
        _ input: UnsafeRawBufferPointer, using output: UnsafeMutableRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        guard passesUnchanged, coding.storesAsDelivered, let source = input.baseAddress else {
            let byteCount = unsafe process(input, into: output)
            return unsafe UnsafeRawBufferPointer(rebasing: output[..<byteCount])
        }
        let frameCount = input.count / bytesPerFrameIn
        meter.reserve(frameCount: frameCount)
        unsafe pass(source, into: nil, frameCount: frameCount)
        return unsafe UnsafeRawBufferPointer(start: source, count: frameCount * bytesPerFrameIn)
    }

    /// Processes digital silence in place of frames that were lost, so that the timeline and the filter go on.
    /// - Parameter output: room for `frameCount` frames in the stored layout.
    /// - Returns: bytes written.
    public func silence(frameCount: Int, into output: UnsafeMutableRawBufferPointer) -> Int {
        precondition(output.count >= frameCount * bytesPerFrameOut, "no room for the stored frames")
        guard frameCount > 0, let target = output.baseAddress else { return 0 }
        meter.reserve(frameCount: frameCount)
        unsafe pass(nil, into: target, frameCount: frameCount)
        return frameCount * bytesPerFrameOut
    }

    /// Runs the filter over frames that are neither measured nor stored, so that its state fits the sound that follows: a filter
    /// that starts from rest overshoots at the first frames. To be called before anything is processed.
    /// - Parameter input: the frames just before the first one that will be processed, as the card delivered them.
    public func warmUp(on input: UnsafeRawBufferPointer) {
        let frameCount = input.count / bytesPerFrameIn
        guard let source = input.baseAddress, !passesUnchanged else { return }
        var done = 0
        while done < frameCount {
            var count = min(frameCount - done, chunkFrames)
            if let change { count = min(count, change.left) }
            _ = unsafe coding.read(source + done * bytesPerFrameIn, into: samples, count: count * channels)
            filter(frameCount: count)
            first.settle()
            second.settle()
            if let change, change.left == 0 { finishChange() }
            done += count
        }
    }

    /// Begins a change to another filter with the next frame: it runs beside the old one for 20 ms, then is faded in over 30 ms
    /// (see `CrossFade`). A change that is requested during a change begins when that one is done; of several, the last.
    public func change(to design: FilterDesign) {
        self.design = design
        if change != nil {
            next = design == coming ? nil : (design, Coefficients(design))
        } else if design != coming {
            begin(design, Coefficients(design))
        }
    }

    /// Whether a change is not done yet.
    public var isChanging: Bool { change != nil }
}

// MARK: - Meters

extension SignalPath {
    /// The levels of the whole take, a channel each, as stored.
    public var levels: [ChannelLevels] { meter.levels }

    /// The levels since the last call, for a live meter.
    public func takeRecentLevels() -> [ChannelLevels] { meter.takeRecentLevels() }

    /// The waveform peaks completed since the last call: for each 256 frames the least and the greatest sample of each
    /// channel, as audiowaveform's version 2 files hold them in 8 bits.
    public func takePeaks() -> [Int8] { meter.takePeaks() }

    /// The last peak, of fewer than 256 frames, and those that were not taken yet. To be called at the end of the take.
    public func finishPeaks() -> [Int8] { meter.finishPeaks() }

    /// Measures from the next frame on what belongs to another take; the filter goes on.
    public func beginMeasuring() { meter = Meter(format) }

    /// The least size of a filter's state that is not zero. For tests.
    var smallestState: Double { min(first.smallestState, second.smallestState) }
}

// MARK: - The pass

extension SignalPath {
    /// - Parameter target: nil: what is stored is what the card delivered, and is only measured.
    @_noLocks @_noAllocation
    private func pass(_ source: UnsafeRawPointer?, into target: UnsafeMutableRawPointer?, frameCount: Int) {
        var done = 0
        while done < frameCount {
            var count = min(frameCount - done, chunkFrames - meter.pixelFrames % chunkFrames)
            if let change { count = min(count, change.left) }
            if let source = unsafe source {
                let sound = unsafe source + done * bytesPerFrameIn
                if let target = unsafe target {
                    unsafe chunk(sound, into: target + done * bytesPerFrameOut, frameCount: count)
                } else {
                    unsafe measure(sound, frameCount: count)
                }
            } else if let target = unsafe target {
                unsafe chunk(nil, into: target + done * bytesPerFrameOut, frameCount: count)
            }
            meter.take(frameCount: count)
            // Fixed points of the timeline, so that this does not depend on how the sound was cut either.
            if meter.pixelFrames == 0 {
                first.settle()
                second.settle()
            }
            if let change, change.left == 0 { finishChange() }
            done += count
        }
    }

    /// Frames that lie within one pixel and on one side of a change's end. They are left in the meter's scan.
    @_noLocks @_noAllocation
    private func chunk(_ source: UnsafeRawPointer?, into target: UnsafeMutableRawPointer, frameCount: Int) {
        let sampleCount = frameCount * channels
        if passesUnchanged, let source = unsafe source {
            unsafe measure(source, frameCount: frameCount)
            return unsafe coding.copy(source, to: target, count: sampleCount)
        }
        unsafe read(source, into: samples, sampleCount: sampleCount, frameCount: frameCount)
        if passesUnchanged {
            unsafe meter.scan(samples, frameCount: frameCount, rounding: false)
            return unsafe coding.write(samples, to: target, count: sampleCount)
        }
        filter(frameCount: frameCount)
        if case .float = coding.layout {
            unsafe coding.write(samples, to: target, count: sampleCount)
            // What was stored is measured.
            _ = unsafe coding.read(target, into: samples, count: sampleCount)
            unsafe meter.scan(samples, frameCount: frameCount, rounding: false)
            if meter.foundBeyond(coding.limits), let source = unsafe source {
                _ = unsafe coding.read(source, into: otherSamples, count: sampleCount)
                unsafe meter.countBeyondFullScale(samples, madeFrom: otherSamples, frameCount: frameCount)
            }
        } else {
            unsafe meter.scan(samples, frameCount: frameCount, rounding: true)
            if meter.foundBeyond(coding.storable) {
                unsafe meter.saturate(samples, frameCount: frameCount)
                unsafe meter.scan(samples, frameCount: frameCount, rounding: true)
            }
            unsafe coding.write(samples, to: target, count: sampleCount)
        }
    }

    /// Measures frames that are stored as the card delivered them. They are left in the meter's scan.
    @_noLocks @_noAllocation
    private func measure(_ source: UnsafeRawPointer, frameCount: Int) {
        let sampleCount = frameCount * channels
        guard unsafe !meter.scan(source, frameCount: frameCount) else {
            guard meter.foundAtLimit() else { return }
            _ = unsafe coding.read(source, into: samples, count: sampleCount)
            return unsafe meter.countClipped(samples, frameCount: frameCount)
        }
        unsafe read(source, into: samples, sampleCount: sampleCount, frameCount: frameCount)
        unsafe meter.scan(samples, frameCount: frameCount, rounding: false)
    }

    @_noLocks @_noAllocation
    private func read(
        _ source: UnsafeRawPointer?, into samples: UnsafeMutablePointer<Double>, sampleCount: Int, frameCount: Int
    ) {
        guard let source = unsafe source else {
            var index = 0
            while index < sampleCount {
                unsafe samples[index] = 0
                index += 1
            }
            return
        }
        if unsafe coding.read(source, into: samples, count: sampleCount) {
            unsafe meter.countClipped(samples, frameCount: frameCount)
        }
    }

    private var passesUnchanged: Bool {
        @_noLocks @_noAllocation get {
            guard change == nil else { return false }
            return firstIsInForce ? first.sectionCount == 0 : second.sectionCount == 0
        }
    }

    @_noLocks @_noAllocation
    private func filter(frameCount: Int) {
        if change == nil {
            if firstIsInForce {
                unsafe first.run(samples, frameCount: frameCount)
            } else {
                unsafe second.run(samples, frameCount: frameCount)
            }
            return
        }
        unsafe UnsafeMutableRawPointer(otherSamples).copyMemory(
            from: samples, byteCount: frameCount * channels * MemoryLayout<Double>.stride)
        if firstIsInForce {
            unsafe first.run(samples, frameCount: frameCount)
            unsafe second.run(otherSamples, frameCount: frameCount)
        } else {
            unsafe second.run(samples, frameCount: frameCount)
            unsafe first.run(otherSamples, frameCount: frameCount)
        }
        unsafe change?.mix(otherSamples, into: samples, frameCount: frameCount, channels: channels)
    }

    @_noLocks @_noAllocation
    private func begin(_ design: FilterDesign, _ coefficients: borrowing Coefficients) {
        if firstIsInForce { second.load(coefficients) } else { first.load(coefficients) }
        coming = design
        change = CrossFade(rateHz: format.rateHz)
    }

    @_noLocks @_noAllocation
    private func finishChange() {
        firstIsInForce.toggle()
        change = nil
        if let following = next {
            next = nil
            begin(following.design, following.coefficients)
        }
    }
}
