import Takes

/// Levels and waveform peaks of the stored sound, for each channel, in the format's own units.
@safe struct Meter: ~Copyable {
    private let channels: Int
    private let coding: SampleCoding
    private let tallies: UnsafeMutablePointer<Tally>
    /// The result of the last scan, in three rows with one number for each channel: least, greatest, squares.
    private let found: UnsafeMutablePointer<Double>
    private var frames: Int64 = 0
    private var recentFrames: Int64 = 0
    /// Frames of the unfinished pixel.
    private(set) var pixelFrames = 0
    /// Completed pixels that were not taken yet: least and greatest of each channel.
    private var peaks: UnsafeMutablePointer<Int8>
    private var peakCapacity: Int
    private var peakCount = 0

    /// The frames of one waveform peak.
    static var framesPerPixel: Int { @_noLocks @_noAllocation get { 256 } }

    private struct Tally {
        var peak = 0.0
        var recentPeak = 0.0
        var squares = 0.0
        var recentSquares = 0.0
        /// The squares of the unfinished pixel.
        var pixelSquares = 0.0
        /// The part of them that `takeRecentLevels` has already returned.
        var pixelSquaresReported = 0.0
        var pixelLeast = Double.infinity
        var pixelGreatest = -Double.infinity
        var clipped: Int64 = 0
        var recentClipped: Int64 = 0
        var filterClipped: Int64 = 0
        var recentFilterClipped: Int64 = 0
    }

    init(_ format: StreamFormat) {
        channels = format.channels
        coding = SampleCoding(format)
        // Safe: allocated here with these sizes and freed in deinit. Every access below stays within them.
        unsafe tallies = .allocate(capacity: channels)
        unsafe tallies.initialize(repeating: Tally(), count: channels)
        unsafe found = .allocate(capacity: 3 * channels)
        unsafe found.initialize(repeating: 0, count: 3 * channels)
        // Room for ten seconds at 96 kHz; `reserve` adds more.
        peakCapacity = 4096 * 2 * channels
        unsafe peaks = .allocate(capacity: peakCapacity)
    }

    deinit {
        unsafe tallies.deallocate()
        unsafe found.deallocate()
        unsafe peaks.deallocate()
    }
}

// MARK: - Scanning

extension Meter {
    /// Makes room for the peaks of `frameCount` more frames, so that processing them does not allocate.
    mutating func reserve(frameCount: Int) {
        let needed = peakCount + (frameCount / Self.framesPerPixel + 1) * 2 * channels
        guard needed > peakCapacity else { return }
        let larger = UnsafeMutablePointer<Int8>.allocate(capacity: needed)
        unsafe larger.update(from: peaks, count: peakCount)
        unsafe peaks.deallocate()
        unsafe peaks = larger
        peakCapacity = needed
    }

    /// Scans the next frames, which must stay within one pixel. May be repeated until `take`.
    @_noLocks @_noAllocation
    mutating func scan(_ samples: UnsafePointer<Double>, frameCount: Int, rounding: Bool) {
        var channel = 0
        while channel < channels {
            unsafe found[2 * channels + channel] = tallies[channel].pixelSquares
            channel += 1
        }
        channel = 0
        while channel < channels {
            let left = channels - channel
            let lanes = left >= 4 ? 4 : left >= 2 ? 2 : 1
            let scan = unsafe Scan(
                samples: samples + channel, channels: channels, frameCount: frameCount,
                into: ScanResult(in: found, channels: channels, from: channel))
            scan.run(lanes: lanes, rounding: rounding)
            channel += lanes
        }
    }

    /// Like the other `scan`, for integers that are stored unchanged, from the card's bytes. The results are equal, bit
    /// for bit.
    /// - Returns: false if nothing was scanned, because the format is float or there is a single frame.
    @_noLocks @_noAllocation
    mutating func scan(_ bytes: UnsafeRawPointer, frameCount: Int) -> Bool {
        // Samples of 3 bytes are read as 4 bytes, which a single frame may not have.
        guard frameCount > 1 else { return false }
        var channel = 0
        while channel < channels {
            unsafe found[2 * channels + channel] = tallies[channel].pixelSquares
            channel += 1
        }
        switch coding.layout {
        case .s16:
            let scan = unsafe ShortScan(
                bytes: bytes, channels: channels, frameCount: frameCount,
                into: ScanResult(in: found, channels: channels))
            scan.run()
        case .s24Packed: unsafe scanWhole(bytes, frameCount: frameCount, size: 3, up: 0, down: 0)
        case .s24Low: unsafe scanWhole(bytes, frameCount: frameCount, size: 4, up: 8, down: 8)
        case .s24High: unsafe scanWhole(bytes, frameCount: frameCount, size: 4, up: 0, down: 8)
        case .s32: unsafe scanWhole(bytes, frameCount: frameCount, size: 4, up: 0, down: 0)
        case .float: return false
        }
        return true
    }

    /// - Parameters:
    ///   - size: the bytes of a sample.
    ///   - up: samples of 4 bytes are first shifted up by this many bits.
    ///   - down: then they are shifted down by this many bits.
    @inline(__always) @_noLocks @_noAllocation
    private func scanWhole(_ bytes: UnsafeRawPointer, frameCount: Int, size: Int, up: Int32, down: Int32) {
        var channel = 0
        while channel < channels {
            let left = channels - channel
            let lanes = left >= 4 ? 4 : left >= 2 ? 2 : 1
            let scan = unsafe WholeScan(
                bytes: bytes + size * channel, bytesPerFrame: size * channels, frameCount: frameCount,
                into: ScanResult(in: found, channels: channels, from: channel))
            if size == 3 { scan.runPacked(lanes: lanes) } else { scan.runWords(lanes: lanes, up: up, down: down) }
            channel += lanes
        }
    }

    /// Whether the last scan found a sample at the converter's limit.
    @_noLocks @_noAllocation
    func foundAtLimit() -> Bool {
        let limits = coding.limits
        var channel = 0
        while channel < channels {
            if unsafe found[channel] <= limits.least || found[channels + channel] >= limits.greatest { return true }
            channel += 1
        }
        return false
    }

    /// Whether the last scan found a sample outside the bounds.
    @_noLocks @_noAllocation
    func foundBeyond(_ bounds: (least: Double, greatest: Double)) -> Bool {
        var channel = 0
        while channel < channels {
            if unsafe found[channel] < bounds.least || found[channels + channel] > bounds.greatest { return true }
            channel += 1
        }
        return false
    }

    /// Adds the result of the last scan.
    @_noLocks @_noAllocation
    mutating func take(frameCount: Int) {
        var channel = 0
        while channel < channels {
            let least = unsafe found[channel]
            let greatest = unsafe found[channels + channel]
            let size = greatest > -least ? greatest : -least
            let tally = unsafe tallies + channel
            unsafe tally.pointee.pixelSquares = found[2 * channels + channel]
            if unsafe least < tally.pointee.pixelLeast { unsafe tally.pointee.pixelLeast = least }
            if unsafe greatest > tally.pointee.pixelGreatest { unsafe tally.pointee.pixelGreatest = greatest }
            if unsafe size > tally.pointee.peak { unsafe tally.pointee.peak = size }
            if unsafe size > tally.pointee.recentPeak { unsafe tally.pointee.recentPeak = size }
            channel += 1
        }
        frames += Int64(frameCount)
        recentFrames += Int64(frameCount)
        pixelFrames += frameCount
        if pixelFrames == Self.framesPerPixel { closePixel() }
    }
}

// MARK: - Clipping

extension Meter {
    /// Counts the samples at the converter's limit, for each channel.
    @_noLocks @_noAllocation
    mutating func countClipped(_ samples: UnsafePointer<Double>, frameCount: Int) {
        let limits = coding.limits
        var frame = 0
        while frame < frameCount {
            var channel = 0
            while channel < channels {
                let sample = unsafe samples[frame * channels + channel]
                if sample <= limits.least || sample >= limits.greatest {
                    let tally = unsafe tallies + channel
                    unsafe tally.pointee.clipped += 1
                    unsafe tally.pointee.recentClipped += 1
                }
                channel += 1
            }
            frame += 1
        }
    }

    /// Limits integers to the numbers that the format can store, and counts the limited samples.
    @_noLocks @_noAllocation
    mutating func saturate(_ samples: UnsafeMutablePointer<Double>, frameCount: Int) {
        let (least, greatest) = coding.storable
        var frame = 0
        while frame < frameCount {
            var channel = 0
            while channel < channels {
                let index = frame * channels + channel
                let rounded = unsafe samples[index] + Scan.roundingBias - Scan.roundingBias
                if rounded < least || rounded > greatest {
                    unsafe samples[index] = rounded < least ? least : greatest
                    countFilterClipped(channel)
                }
                channel += 1
            }
            frame += 1
        }
    }

    /// Counts samples beyond full scale whose originals were not at the limit.
    @_noLocks @_noAllocation
    mutating func countBeyondFullScale(
        _ samples: UnsafePointer<Double>, madeFrom originals: UnsafePointer<Double>, frameCount: Int
    ) {
        let limits = coding.limits
        var frame = 0
        while frame < frameCount {
            var channel = 0
            while channel < channels {
                let index = frame * channels + channel
                let sample = unsafe samples[index]
                let original = unsafe originals[index]
                if sample < limits.least || sample > limits.greatest,
                    original > limits.least, original < limits.greatest
                {
                    countFilterClipped(channel)
                }
                channel += 1
            }
            frame += 1
        }
    }

    @_noLocks @_noAllocation
    private func countFilterClipped(_ channel: Int) {
        let tally = unsafe tallies + channel
        unsafe tally.pointee.filterClipped += 1
        unsafe tally.pointee.recentFilterClipped += 1
    }
}

// MARK: - Peaks

extension Meter {
    /// Stores a pixel as audiowaveform's 8-bit files do: the higher half of the sample's highest 16 bits, rounded
    /// toward zero.
    @_noLocks @_noAllocation
    private mutating func closePixel() {
        var channel = 0
        while channel < channels {
            let tally = unsafe tallies + channel
            unsafe peaks[peakCount] = pixel(tally.pointee.pixelLeast)
            unsafe peaks[peakCount + 1] = pixel(tally.pointee.pixelGreatest)
            peakCount += 2
            unsafe tally.pointee.squares += tally.pointee.pixelSquares
            unsafe tally.pointee.recentSquares += tally.pointee.pixelSquares - tally.pointee.pixelSquaresReported
            unsafe tally.pointee.pixelSquares = 0
            unsafe tally.pointee.pixelSquaresReported = 0
            unsafe tally.pointee.pixelLeast = .infinity
            unsafe tally.pointee.pixelGreatest = -.infinity
            channel += 1
        }
        pixelFrames = 0
    }

    @_noLocks @_noAllocation
    private func pixel(_ sample: Double) -> Int8 {
        switch coding.layout {
        case .s16: Self.higherHalf(whole(sample))
        case .s24Packed, .s24Low, .s24High: Self.higherHalf(whole(sample) >> 8)
        case .s32: Self.higherHalf(whole(sample) >> 16)
        case .float: Self.higherHalf(Int32(32767 * (sample > -1 ? sample < 1 ? sample : 1 : -1)))
        }
    }

    /// Converts a whole number without a trap.
    @_noLocks @_noAllocation
    private func whole(_ sample: Double) -> Int32 {
        Int32(truncatingIfNeeded: (sample + Scan.roundingBias).bitPattern)
    }

    @_noLocks @_noAllocation
    private static func higherHalf(_ sample: Int32) -> Int8 {
        Int8(truncatingIfNeeded: sample / 256)
    }

    /// Returns the pixels that were completed since the last call, in order: least and greatest of each channel.
    mutating func takePeaks() -> [Int8] {
        let taken = unsafe Array(UnsafeBufferPointer(start: peaks, count: peakCount))
        peakCount = 0
        return taken
    }

    /// Completes the unfinished pixel, however short, and returns all pixels.
    mutating func finishPeaks() -> [Int8] {
        reserve(frameCount: 0)
        if pixelFrames > 0 { closePixel() }
        return takePeaks()
    }
}

// MARK: - Levels

extension Meter {
    /// The levels of all sound so far.
    var levels: [ChannelLevels] {
        (0..<channels).map { channel in
            let tally = unsafe tallies[channel]
            return levels(
                peak: tally.peak, squares: tally.squares + tally.pixelSquares, frames: frames,
                clipped: tally.clipped, filterClipped: tally.filterClipped)
        }
    }

    /// Returns the levels of the sound since the last call.
    mutating func takeRecentLevels() -> [ChannelLevels] {
        let frames = recentFrames
        recentFrames = 0
        return (0..<channels).map { channel in
            let tally = unsafe tallies[channel]
            unsafe tallies[channel].recentPeak = 0
            unsafe tallies[channel].recentSquares = 0
            unsafe tallies[channel].pixelSquaresReported = tally.pixelSquares
            unsafe tallies[channel].recentClipped = 0
            unsafe tallies[channel].recentFilterClipped = 0
            return levels(
                peak: tally.recentPeak,
                squares: tally.recentSquares + (tally.pixelSquares - tally.pixelSquaresReported),
                frames: frames, clipped: tally.recentClipped, filterClipped: tally.recentFilterClipped)
        }
    }

    private func levels(
        peak: Double, squares: Double, frames: Int64, clipped: Int64, filterClipped: Int64
    ) -> ChannelLevels {
        let scale = coding.fullScale
        return ChannelLevels(
            peak: peak / scale, meanSquare: frames > 0 ? squares / Double(frames) / (scale * scale) : 0,
            clippedFrames: clipped, filterClippedFrames: filterClipped)
    }
}
