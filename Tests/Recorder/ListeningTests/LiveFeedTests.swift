import Filters
import Ring
import Takes
import Testing

@testable import Live

@Suite struct LiveFeedTests {
    private let ring: Ring
    private let source: LiveSource

    init() {
        let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)
        ring = Ring(format: format, holding: .seconds(2), periodFrames: 4800)
        source = LiveSource(ring: ring, design: .off(rateHz: 48000))
    }

    /// Delivers frames with `value` in the left channel, and its opposite in the right.
    private func deliver(_ frameCount: Int, of value: Int16) {
        let samples = (0..<frameCount).flatMap { _ in [value, -value] }
        unsafe samples.withUnsafeBytes { bytes in
            unsafe ring.writable(Int64(frameCount)).copyMemory(from: bytes)
        }
        ring.commit(Int64(frameCount))
    }

    /// Reads all available chunks.
    private func read(_ feed: LiveFeed) -> [LiveChunk] {
        var chunks: [LiveChunk] = []
        while let chunk = feed.read({ _, _ in }) { chunks.append(chunk) }
        return chunks
    }

    private func drawn() -> LivePixels {
        let pixels = LivePixels()
        #expect(pixels.want(true) && !pixels.want(true))
        return pixels
    }

    @Test func `a pixel is the least and the greatest of 256 frames of each channel`() {
        let pixels = drawn()
        #expect(pixels.take() == nil)
        let feed = LiveFeed(source, pixels: pixels)
        deliver(256, of: 0x1000)
        deliver(300, of: 0x2000)
        _ = read(feed)
        #expect(pixels.take()?.data == [16, 16, -16, -16, 32, 32, -32, -32])
        deliver(211, of: -0x2000)
        _ = read(feed)
        #expect(pixels.take()?.data == [])
        deliver(1, of: -0x2000)
        _ = read(feed)
        let last = pixels.take()
        #expect(last?.data == [-32, 32, -32, 32] && last?.first == 2)
    }

    @Test func `sound of before is left out, and another ring is not followed`() {
        deliver(1000, of: 0x7000)
        let pixels = drawn()
        var feed: LiveFeed? = LiveFeed(source, pixels: pixels)
        deliver(256, of: 0x1000)
        #expect(feed?.follow(source) == true)
        _ = feed.map(read)
        #expect(pixels.take()?.data == [16, 16, -16, -16])
        let other = Ring(format: ring.format, holding: .seconds(2), periodFrames: 4800)
        #expect(feed?.follow(LiveSource(ring: other, design: source.design)) == false)
        feed = nil
        #expect(pixels.take() == nil)
    }

    @Test func `a chunk says where it lies, when it was sampled, and what is missing before it`() {
        let feed = LiveFeed(source)
        ring.stamp(Stamp(position: .start, instant: Instant(nanoseconds: 1_000_000_000), kind: .started))
        deliver(2400, of: 0x1000)
        #expect(
            read(feed) == [LiveChunk(first: 0, instant: Instant(nanoseconds: 1_000_000_000), frames: 2400, skipped: 0)])
        for _ in 0..<200 { deliver(2400, of: 0x1000) }
        let chunks = read(feed)
        let skipped = chunks.reduce(0) { $0 + $1.skipped }
        #expect(
            skipped > 300_000 && chunks.first?.skipped == skipped && chunks.first?.first == RingPosition(2400 + skipped)
        )
        #expect(chunks.reduce(0) { $0 + $1.frames } + Int(skipped) == 480_000)
        #expect(chunks.last?.instant == Instant(nanoseconds: 11_000_000_000))
    }

    @Test func `nothing is drawn for nobody`() {
        let pixels = LivePixels()
        let feed = LiveFeed(source, pixels: pixels)
        deliver(2560, of: 0x1000)
        _ = read(feed)
        #expect(pixels.take() == nil && pixels.want(true) && pixels.take() == nil && pixels.want(false))
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
