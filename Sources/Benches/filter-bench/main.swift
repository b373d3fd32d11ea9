import CReferenceFilter
import Filters
import Glibc
import Takes

// One round of measurements, one line each. `deploy/bench-filters` runs several rounds, compares them and prints a
// table.
//
//   kernel CHANNELS ORDER SWIFT C       million samples a second, of the filter alone
//   path FORMAT CHANNELS ORDER SECONDS  ten minutes of sound, card's bytes to file's bytes; order 0: filter off
//   meter FORMAT CHANNELS SECONDS       ten minutes of sound, measured while the card delivers it

let rateHz = 48000

/// The processor time of some work, in seconds.
func processorSeconds(_ work: () throws -> Void) rethrows -> Double {
    func now() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
    let start = now()
    try work()
    return now() - start
}

/// White noise between −0.25 and 0.25, the same in each run.
func noise(_ count: Int) -> [Double] {
    var state: UInt64 = 1
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(Int64(bitPattern: state) >> 40) / 33_554_432
    }
}

func design(order: Int) throws -> FilterDesign {
    guard order > 0 else { return .off(rateHz: rateHz) }
    return try FilterDesign(lowPassHz: 12000, highPassHz: nil, slopeDBPerOctave: 6 * order, rateHz: rateHz)
}

/// Measures the filter and its C counterpart in turn, in place on the same samples.
func measureKernel(channels: Int, order: Int) throws -> (swift: Double, c: Double) {
    let design = try design(order: order)
    let sections = design.filters.flatMap(\.sections)
    let peer = sections.map { reference_section(b0: $0.b0, b1: $0.b1, b2: $0.b2, a1: $0.a1, a2: $0.a2) }
    var state = [Double](repeating: 0, count: 2 * sections.count * channels)
    var cascade = Cascade(design, channels: channels)
    let frameCount = 4096 / channels
    let input = noise(frameCount * channels)
    // The same buffer is filtered again and again, so that the memory's speed has no influence. The noise's DC
    // component passes a low-pass, so there is signal to the end.
    var buffer = input
    let turns = 1000
    let swift = processorSeconds {
        for _ in 0..<turns {
            var span = buffer.mutableSpan
            cascade.process(&span)
        }
    }
    buffer = input
    let c = processorSeconds {
        for _ in 0..<turns {
            unsafe reference_filter(peer, Int32(sections.count), &state, Int32(channels), &buffer, frameCount)
        }
    }
    let samples = Double(turns * frameCount * channels) / 1e6
    return (samples / swift, samples / c)
}

/// 100 ms of noise in the card's format.
func captured(_ format: StreamFormat) -> [UInt8] {
    noise(4800 * format.channels).flatMap { (sample: Double) -> [UInt8] in
        switch format.sampleFormat {
        case .s16: unsafe withUnsafeBytes(of: Int16(sample * 32768)) { unsafe Array($0) }
        case .s24Packed: unsafe withUnsafeBytes(of: Int32(sample * 8_388_608)) { unsafe Array($0.prefix(3)) }
        case .s24: unsafe withUnsafeBytes(of: Int32(sample * 8_388_608)) { unsafe Array($0) }
        case .s32: unsafe withUnsafeBytes(of: Int32(sample * 2_147_483_648)) { unsafe Array($0) }
        case .float: unsafe withUnsafeBytes(of: Float(sample)) { unsafe Array($0) }
        }
    }
}

/// Ten minutes of sound through a whole path, 100 ms at a time.
func measurePath(_ sampleFormat: SampleFormat, channels: Int, order: Int) throws -> Double {
    let format = StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: sampleFormat)
    let path = SignalPath(format: format, design: try design(order: order))
    let input = captured(format)
    var output = [UInt8](repeating: 0, count: 4800 * format.stored.bytesPerFrame)
    return processorSeconds {
        for _ in 0..<6000 {
            unsafe input.withUnsafeBytes { source in
                unsafe output.withUnsafeMutableBytes { target in
                    _ = unsafe path.process(source, into: target)
                }
            }
            _ = path.takePeaks()
        }
    }
}

/// Ten minutes of sound through a meter, 100 ms at a time.
func measureMeter(_ sampleFormat: SampleFormat, channels: Int) -> Double {
    let format = StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: sampleFormat)
    let meter = RunningMeter(format)
    let input = captured(format)
    return processorSeconds {
        for _ in 0..<6000 {
            unsafe input.withUnsafeBytes { unsafe meter.take($0) }
            _ = meter.drain()
        }
    }
}

for channels in [1, 2, 8] {
    for order in [2, 4, 6, 8] {
        let speed = try measureKernel(channels: channels, order: order)
        print("kernel", channels, order, speed.swift, speed.c)
    }
}
for (sampleFormat, channels) in SampleFormat.allCases.map({ ($0, 2) }) + [(.s16, 1), (.s16, 8)] {
    for order in [0, 4] {
        let seconds = try measurePath(sampleFormat, channels: channels, order: order)
        print("path", sampleFormat.rawValue, channels, order, seconds)
    }
    print("meter", sampleFormat.rawValue, channels, measureMeter(sampleFormat, channels: channels))
}
