import Glibc
import Spectra
import Takes

// One round of measurements, one line each. `deploy/bench-spectra` runs several rounds, compares them and prints a table.
//
//   transform LENGTH MICROSECONDS              a window of noise: window function, transform, powers
//   columns FORMAT RATE CHANNELS SECONDS       the columns of an hour of noise, from the file's bytes
//   picture RATE LENGTH COLUMNS SECONDS        a picture of 10 s of noise

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

/// A tenth of a second of noise as a file has it.
func piece(_ format: StreamFormat) -> [UInt8] {
    let size = format.sampleFormat.bytesPerSample
    return noise(format.rateHz / 10 * format.channels).flatMap { sample in
        let word = Int32(sample * 0x1p31) >> Int32(32 - 8 * size)
        return (0..<size).map { UInt8(truncatingIfNeeded: word >> Int32(8 * $0)) }
    }
}

/// The time of one window, of 400 000.
func measureTransform(_ length: Int) -> Double {
    let transform = RealTransform(length: length)
    let samples = noise(3 * length).map(Float.init)
    var bands = [SIMD4<Float>](repeating: SIMD4(), count: length / 2 + 1)
    let turns = 100_000
    let starts = SIMD4(0, length / 2, length, 3 * length / 2)
    let seconds = processorSeconds {
        for _ in 0..<turns {
            transform.transform(samples.span, at: starts)
            transform.pool(into: &bands, at: 0, shift: 0)
        }
    }
    return seconds / Double(4 * turns) * 1e6
}

/// An hour of sound, a tenth of a second at a time. A part of it is measured.
func measureColumns(_ format: StreamFormat) throws -> Double {
    let input = piece(format)
    var maker = try ColumnMaker(format)
    var columns: [UInt8] = []
    let pieces = 3600 * 48_000 / format.rateHz / format.channels
    let seconds = processorSeconds {
        for _ in 0..<pieces {
            input.withRawSpan { maker.append($0, to: &columns) }
            columns.removeAll(keepingCapacity: true)
        }
        maker.finish(to: &columns)
    }
    return seconds * 36_000 / Double(pieces)
}

/// 10 s in 1000 columns of all bins.
func measurePicture(_ rateHz: Int, _ length: Int) throws -> Double {
    let samples = noise(10 * rateHz).map(Float.init)
    return try processorSeconds {
        _ = try SoundPicture(
            of: samples.span, rateHz: rateHz, lead: 0, columns: 1000, hop: rateHz / 100, window: length,
            bins: 0..<length / 2)
    }
}

for length in [256, 512, 1024, 2048, 4096, 8192] { print("transform", length, measureTransform(length)) }
for (sampleFormat, rateHz, channels) in [
    (.s16, 48_000, 1), (.s16, 48_000, 2), (.s24Packed, 48_000, 2), (.s32, 48_000, 8), (.s16, 384_000, 1),
] as [(SampleFormat, Int, Int)] {
    let format = StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: sampleFormat)
    print("columns", sampleFormat.rawValue, rateHz, channels, try measureColumns(format))
}
for (rateHz, length) in [(48_000, 1024), (48_000, 4096), (384_000, 2048)] {
    print("picture", rateHz, length, 1000, try measurePicture(rateHz, length))
}
