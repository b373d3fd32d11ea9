import Filters
import Ring
import Takes
import Testing

@testable import Live

/// The waveform of live sound.
@Suite struct LivePeaksTests {
    private let ring: Ring
    private let source: LiveSource

    init() {
        let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)
        ring = Ring(format: format, holding: .seconds(2), periodFrames: 4800)
        source = LiveSource(ring: ring, design: .off(rateHz: 48000))
    }

    /// Delivers frames whose left channel is `value` and whose right one is its opposite.
    private func deliver(_ frameCount: Int, of value: Int16) {
        let samples = (0..<frameCount).flatMap { _ in [value, -value] }
        unsafe samples.withUnsafeBytes { bytes in
            unsafe ring.writable(Int64(frameCount)).copyMemory(from: bytes)
        }
        ring.commit(Int64(frameCount))
    }

    @Test func `a pixel is the least and the greatest of 256 frames of each channel`() {
        let peaks = LivePeaks(source)
        deliver(256, of: 0x1000)
        deliver(300, of: 0x2000)
        #expect(peaks.next() == [16, 16, -16, -16, 32, 32, -32, -32])
        #expect(peaks.pixelCount == 2)
        deliver(211, of: -0x2000)
        #expect(peaks.next() == [])
        deliver(1, of: -0x2000)
        #expect(peaks.next() == [-32, 32, -32, 32])
        #expect(peaks.pixelCount == 3)
    }

    @Test func `sound of before is left out, and another ring is not followed`() {
        deliver(1000, of: 0x7000)
        let peaks = LivePeaks(source)
        deliver(256, of: 0x1000)
        #expect(peaks.follow(source))
        #expect(peaks.next() == [16, 16, -16, -16])
        let other = Ring(format: ring.format, holding: .seconds(2), periodFrames: 4800)
        #expect(!peaks.follow(LiveSource(ring: other, design: source.design)))
    }

    @Test func `a reader of the sound alone keeps no waveform`() {
        let sound = LiveSound(source)
        for _ in 0..<3 {
            deliver(2560, of: 0x1000)
            while sound.read({ _, _ in }) {}
        }
        #expect(sound.path.takePeaks() == [])
    }
}
