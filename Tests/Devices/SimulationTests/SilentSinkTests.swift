import Ring
import Simulation
import Takes
import TestBench
import Testing

struct SilentSinkTests {
    private let clock = TestClock()
    private let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)

    @Test func `frames are played at the pace of the clock`() {
        let sink = SilentSink(clock: clock)
        let grant = sink.open(PlaybackRequest(format: format))
        #expect(grant.format == format)
        let second = [UInt8](repeating: 0, count: 48000 * 4)
        #expect(second.withUnsafeBytes { sink.write($0) } == 24000)
        #expect(second.withUnsafeBytes { sink.write($0) } == 0)
        clock.advance(by: .milliseconds(100))
        #expect(sink.queuedFrames() == 19200)
        #expect(sink.takeBack(keeping: 480) == 18720)
        #expect(sink.queuedFrames() == 480)
        clock.advance(by: .milliseconds(10))
        #expect(sink.queuedFrames() == 0)
        #expect(sink.underruns == 0)
        #expect(second.withUnsafeBytes { sink.write($0) } == 24000)
        #expect(sink.underruns == 1)
        sink.drop()
        #expect(sink.queuedFrames() == 0)
        #expect(second.withUnsafeBytes { sink.write($0) } == 24000)
        #expect(sink.underruns == 1)
    }

    @Test func `no more is queued than the latency that is asked for`() {
        let sink = SilentSink(clock: clock)
        let grant = sink.open(PlaybackRequest(format: format, latency: .milliseconds(45)))
        #expect(grant.latency == .milliseconds(45))
        let second = [UInt8](repeating: 0, count: 48000 * 4)
        #expect(second.withUnsafeBytes { sink.write($0) } == 2160)
    }
}
