import CSelfTest
import Filters
import Takes

private let formats: [SampleFormat] = [.s16, .s24Packed, .s24, .s32, .float]

/// The filters, as arm64 code.
func checkFilters(_ checks: inout Checks) {
    checks.check("SciPy's outputs hold to 1e-9, with 1, 2, 3, 4 and 7 channels", [1, 2, 3, 4, 7].allSatisfy(isSciPys))
    checks.check("with the filter off every bit passes", formats.allSatisfy(passesEveryBit))
    checks.check("a path stores the cascade's output, rounded and saturated", storesTheRoundedOutput())
    checks.check("how the sound is cut into blocks changes nothing", formats.allSatisfy(doesNotDependOnBlocks))
    checks.check("levels and peaks are right", measuresRightly())
    checks.check("a filter rings out to digital silence", fallsSilent())
    Denormals.flushToZero()
    let half = Double.leastNormalMagnitude * Double(reference_input(0)).magnitude
    checks.check("the thread flushes denormals", Denormals.areFlushed && half == 0)
}

private func design(low: Double?, high: Double?, slope: Int, rateHz: Int = 48000) -> FilterDesign {
    guard
        let design = try? FilterDesign(lowPassHz: low, highPassHz: high, slopeDBPerOctave: slope, rateHz: rateHz)
    else { return .off(rateHz: rateHz) }
    return design
}

private func isSciPys(channels: Int) -> Bool {
    var worst = 0.0
    for index in 0..<reference_case_count() {
        let reference = unsafe reference_case(index).pointee
        let design = design(
            low: reference.is_high_pass ? nil : reference.cutoff_hz,
            high: reference.is_high_pass ? reference.cutoff_hz : nil,
            slope: Int(reference.order) * 6, rateHz: Int(reference.rate_hz))
        var cascade = Cascade(design, channels: channels)
        var samples: [Double] = []
        for frame in 0..<64 {
            for channel in 0..<channels { samples.append(reference_input(Int32(frame)) * Double(channel + 1)) }
        }
        var span = samples.mutableSpan
        cascade.process(&span)
        for frame in 0..<64 {
            for channel in 0..<channels {
                let answer = samples[frame * channels + channel] / Double(channel + 1)
                worst = max(worst, abs(answer - reference_output(index, Int32(frame))))
            }
        }
    }
    return reference_case_count() == 112 && worst < 1e-9
}

private func process(_ path: SignalPath, _ bytes: [UInt8]) -> [UInt8] {
    let room = bytes.count / path.format.bytesPerFrame * path.format.stored.bytesPerFrame
    var output = [UInt8](repeating: 0, count: room)
    unsafe bytes.withUnsafeBytes { input in
        unsafe output.withUnsafeMutableBytes { _ = unsafe path.process(input, into: $0) }
    }
    return output
}

private func silence(_ path: SignalPath, _ frameCount: Int) -> [UInt8] {
    var output = [UInt8](repeating: 1, count: frameCount * path.format.stored.bytesPerFrame)
    unsafe output.withUnsafeMutableBytes { _ = unsafe path.silence(frameCount: frameCount, into: $0) }
    return output
}

private func passesEveryBit(_ sampleFormat: SampleFormat) -> Bool {
    [1, 2, 3, 9, 32].allSatisfy { channels in
        let format = StreamFormat(rateHz: 48000, channels: channels, sampleFormat: sampleFormat)
        let input = noise(1000 * format.bytesPerFrame)
        var expected = input
        if sampleFormat == .s24 {
            expected = []
            for index in input.indices where index % 4 != 3 { expected.append(input[index]) }
        }
        return process(SignalPath(format: format, design: .off(rateHz: 48000)), input) == expected
    }
}

private func storesTheRoundedOutput() -> Bool {
    let wanted = design(low: 3000, high: 50, slope: 48)
    // A square wave at full scale, so that the filter overshoots.
    var exact: [Double] = []
    var bytes: [UInt8] = []
    for frame in 0..<2000 {
        let sample: Int16 = frame / 100 % 2 == 0 ? 32767 : -32768
        exact.append(Double(sample))
        bytes.append(UInt8(truncatingIfNeeded: sample))
        bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
    }
    var cascade = Cascade(wanted, channels: 1)
    var span = exact.mutableSpan
    cascade.process(&span)
    let path = SignalPath(format: StreamFormat(rateHz: 48000, channels: 1, sampleFormat: .s16), design: wanted)
    let stored = process(path, bytes)
    var beyond: Int64 = 0
    for frame in 0..<2000 {
        let rounded = exact[frame].rounded(.toNearestOrEven)
        let saturated = max(-32768, min(32767, rounded))
        if saturated != rounded { beyond += 1 }
        let found = Int16(truncatingIfNeeded: Int(stored[2 * frame]) | Int(stored[2 * frame + 1]) << 8)
        if Double(found) != saturated { return false }
    }
    return beyond > 0 && path.levels[0].filterClippedFrames == beyond && path.levels[0].clippedFrames == 2000
}

private func doesNotDependOnBlocks(_ sampleFormat: SampleFormat) -> Bool {
    let format = StreamFormat(rateHz: 48000, channels: 3, sampleFormat: sampleFormat)
    let frameCount = 6000
    var input = noise(frameCount * format.bytesPerFrame)
    if sampleFormat == .float {
        // Ordinary sizes.
        for index in input.indices where index % 4 == 3 { input[index] = 0x3E }
    }
    func run(_ lengths: [Int]) -> (stored: [UInt8], peaks: [Int8], levels: [ChannelLevels]) {
        let path = SignalPath(format: format, design: design(low: 5000, high: nil, slope: 24))
        var stored: [UInt8] = []
        var done = 0
        var turn = 0
        while done < frameCount {
            if done == 1000 { path.change(to: design(low: 9000, high: 80, slope: 48)) }
            let count = min(lengths[turn % lengths.count], (done < 1000 ? 1000 : frameCount) - done)
            let first = done * format.bytesPerFrame
            stored += process(path, Array(input[first..<first + count * format.bytesPerFrame]))
            done += count
            turn += 1
        }
        return (stored, path.finishPeaks(), path.levels)
    }
    let whole = run([frameCount])
    let pieces = run([1, 7, 256, 300, 64, 1023, 2])
    return pieces.stored == whole.stored && pieces.peaks == whole.peaks && pieces.levels == whole.levels
}

private func measuresRightly() -> Bool {
    var bytes: [UInt8] = []
    for frame in 0..<300 {
        // 8192 and −8192 on the left, 256 on the right.
        bytes += frame % 2 == 0 ? [0x00, 0x20, 0x00, 0x01] : [0x00, 0xE0, 0x00, 0x01]
    }
    let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)
    let path = SignalPath(format: format, design: .off(rateHz: 48000))
    _ = process(path, bytes)
    let levels = path.levels
    guard let left = levels[0].rmsDBFS, let right = levels[1].peakDBFS else { return false }
    return levels[0] == ChannelLevels(peak: 0.25, meanSquare: 0.0625) && abs(left + 12.0412) < 1e-4
        && abs(right + 42.1442) < 1e-4 && path.takePeaks() == [-32, 32, 1, 1]
        && path.finishPeaks() == [-32, 32, 1, 1]
}

private func fallsSilent() -> Bool {
    let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .float)
    let path = SignalPath(format: format, design: design(low: 12000, high: nil, slope: 48))
    var loud = noise(4800 * format.bytesPerFrame)
    for index in loud.indices where index % 4 == 3 { loud[index] = 0x3F }
    _ = process(path, loud)
    _ = silence(path, 48000)
    return silence(path, 1000).allSatisfy { $0 == 0 }
}
