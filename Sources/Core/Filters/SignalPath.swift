public import Takes

/// Converts a take's sound from the card's bytes to the file's. It filters, rounds and measures in one pass.
///
/// With the filter off, the significant bits are stored unchanged (see `StreamFormat.stored`). With the filter on,
/// integers are rounded to the file's bits and saturate. Float is stored as the filter returns it, even beyond ±1,
/// since float cannot wrap. The result does not depend on the division into calls. One thread at a time may use it.
@safe public final class SignalPath {
    /// The card's format.
    public let format: StreamFormat
    /// The filter in force, or the last requested one during a change.
    public private(set) var design: FilterDesign

    private let coding: SampleCoding
    private let channels: Int
    private let bytesPerFrameIn: Int
    private let bytesPerFrameOut: Int
    /// Frames that are processed at a time. They divide a pixel, and fit into a processor's nearest cache.
    private let chunkFrames: Int
    private let samples: UnsafeMutablePointer<Double>
    private let otherSamples: UnsafeMutablePointer<Double>

    private var meter: Meter
    private var first: Cascade
    private var second: Cascade
    /// Which of the two is in force. During a change the other one is the new filter.
    private var firstIsInForce = true
    private var change: CrossFade?
    /// The filter after the current change.
    private var coming: FilterDesign
    /// A change that was requested during the current change, and begins after it.
    private var next: (design: FilterDesign, coefficients: Coefficients)?

    /// The frames of one pixel of the waveform.
    public static var framesPerPixel: Int { Meter.framesPerPixel }

    public init(format: StreamFormat, design: FilterDesign) {
        self.format = format
        self.design = design
        coming = design
        coding = SampleCoding(format)
        channels = format.channels
        bytesPerFrameIn = format.bytesPerFrame
        bytesPerFrameOut = format.stored.bytesPerFrame
        chunkFrames = format.channels <= 8 ? Meter.framesPerPixel : Meter.framesPerPixel / 4
        // Safe: allocated here with these sizes and freed in deinit. A chunk has at most chunkFrames.
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
    ///   - input: interleaved frames from the card. An incomplete frame at the end is ignored.
    ///   - output: must have room for the same number of frames in the stored layout, and must not overlap `input`.
    /// - Returns: bytes written.
    public func process(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
        let frameCount = input.count / bytesPerFrameIn
        precondition(output.count >= frameCount * bytesPerFrameOut, "no room for the stored frames")
        guard frameCount > 0, let source = input.baseAddress, let target = output.baseAddress else { return 0 }
        meter.reserve(frameCount: frameCount)
        unsafe pass(source, into: target, frameCount: frameCount)
        return frameCount * bytesPerFrameOut
    }

    /// Processes whole frames, and copies them only if the stored bytes differ from the card's.
    /// - Parameters: as in `process(_:into:)`.
    /// - Returns: the stored frames: `input`, or the written part of `output`.
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

    /// Processes digital silence in place of lost frames, so that the timeline and the filter continue.
    /// - Parameter output: must have room for `frameCount` frames in the stored layout.
    /// - Returns: bytes written.
    public func silence(frameCount: Int, into output: UnsafeMutableRawBufferPointer) -> Int {
        precondition(output.count >= frameCount * bytesPerFrameOut, "no room for the stored frames")
        guard frameCount > 0, let target = output.baseAddress else { return 0 }
        meter.reserve(frameCount: frameCount)
        unsafe pass(nil, into: target, frameCount: frameCount)
        return frameCount * bytesPerFrameOut
    }

    /// Runs the filter over frames without measuring or storing them, so that its state fits the sound that follows. A
    /// filter that starts at rest overshoots in the first frames. Must be called before the first frame is processed.
    /// - Parameter input: the card's frames just before the first one that will be processed.
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

    /// Begins a change to another filter with the next frame. Both filters run for 20 ms, then the new one is faded in
    /// over 30 ms (see `CrossFade`). A change that is requested during a change begins after it. If several are
    /// requested, the last one counts.
    public func change(to design: FilterDesign) {
        self.design = design
        if change != nil {
            next = design == coming ? nil : (design, Coefficients(design))
        } else if design != coming {
            begin(design, Coefficients(design))
        }
    }

    public var isChanging: Bool { change != nil }
}

// MARK: - Meters

extension SignalPath {
    /// The levels of the whole take as stored, one entry for each channel.
    public var levels: [ChannelLevels] { meter.levels }

    /// Returns the levels since the last call, for a live meter.
    public func takeRecentLevels() -> [ChannelLevels] { meter.takeRecentLevels() }

    /// Returns the waveform peaks completed since the last call. For each 256 frames they are the least and the
    /// greatest sample of each channel, in 8 bits as in audiowaveform's version 2 files.
    public func takePeaks() -> [Int8] { meter.takePeaks() }

    /// Returns the remaining peaks, including the last one of fewer than 256 frames. For the end of the take.
    public func finishPeaks() -> [Int8] { meter.finishPeaks() }

    /// Restarts the measurements with the next frame, for another take. The filter continues.
    public func beginMeasuring() { meter = Meter(format) }

    /// The smallest absolute state of a filter other than zero. For tests.
    var smallestState: Double { min(first.smallestState, second.smallestState) }
}

// MARK: - The pass

extension SignalPath {
    /// - Parameter target: nil if the stored bytes are the card's, so that they are only measured.
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
            // These are fixed points of the timeline, so that the result does not depend on the division into calls.
            if meter.pixelFrames == 0 {
                first.settle()
                second.settle()
            }
            if let change, change.left == 0 { finishChange() }
            done += count
        }
    }

    /// Processes frames within one pixel that do not extend past the end of a change. The meter's scan keeps the
    /// measurements.
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
            // Measures the values that were stored.
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

    /// Measures frames that are stored unchanged. The meter's scan keeps the measurements.
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
