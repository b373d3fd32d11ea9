import Glibc
import Takes
import Testing
import Workers

@testable import Ring
@testable import Simulation

@Suite struct SyntheticVoiceTests {
    private let clock = StandingClock()
    private let format = StreamFormat(rateHz: 8000, channels: 2, sampleFormat: .s24Packed)

    private func makeRing(holding length: Duration = .seconds(2)) -> Ring {
        Ring(format: format, holding: length, periodFrames: 160)
    }

    private func stamps(_ ring: Ring) -> [Stamp] {
        (0..<ring.stampNumber).compactMap { ring.stamp(number: $0) }
    }

    @Test func `it grants what is asked for, else 48 kHz and one channel in 24 bits`() {
        let voice = SyntheticVoice(clock: clock)
        #expect(
            voice.open(CaptureRequest()).format
                == StreamFormat(rateHz: 48000, channels: 1, sampleFormat: .s24Packed))
        #expect(voice.open(CaptureRequest(rateHz: 8000, channels: 2, agc: false)).format == format)
        #expect(voice.open(CaptureRequest(agc: false)).warnings == [])
        #expect(
            voice.open(CaptureRequest(gainDB: 6)).warnings == [
                "capture: simulated: cannot set gain or automatic gain control: it has no mixer"
            ])
    }

    @Test func `frames come with the clock, each period dated, also when the loop is late`() throws {
        let ring = makeRing()
        let loop = try VoiceLoop(ring: ring, clock: clock)
        let began = clock.now()
        loop.deliver(upTo: began)
        #expect(ring.position == 0)
        loop.deliver(upTo: began + .milliseconds(20))
        loop.deliver(upTo: began + .milliseconds(1020))
        #expect(ring.position == 8160)
        let periods = (1...51).map { number in
            Stamp(position: RingPosition(Int64(160 * number)), instant: began + .milliseconds(20 * number))
        }
        #expect(stamps(ring) == [Stamp(position: 0, instant: began, kind: .started)] + periods)
        #expect(ring.framePosition(at: began + .milliseconds(500)) == 4000)
    }

    @Test func `every channel has the voice's own samples`() throws {
        let ring = makeRing()
        let loop = try VoiceLoop(ring: ring, clock: clock)
        loop.deliver(upTo: clock.now() + .milliseconds(300))
        var voice = Voice(rateHz: 8000)
        let expected = (0..<2400).flatMap { _ in
            let value = Int32(voice.next() * 8_388_607)
            return [value, value]
        }
        let samples = ring.withFrames(from: 0, atMost: 2400) { bytes in
            (0..<bytes.count / 3).map { index in
                let bits = (0..<3).reduce(Int32(0)) { $0 | Int32(bytes[3 * index + $1]) << (8 * Int32($1)) }
                return (bits << 8) >> 8
            }
        }
        #expect(samples == expected)
        #expect(samples.contains { abs($0) > 100_000 })
    }

    @Test func `what a full ring has no room for is dropped and counted, and the timeline holds`() throws {
        let ring = makeRing(holding: .milliseconds(500))
        let loop = try VoiceLoop(ring: ring, clock: clock)
        let began = clock.now()
        loop.deliver(upTo: began + .milliseconds(100))
        _ = ring.hold(from: 0)
        loop.deliver(upTo: began + .milliseconds(700))
        #expect(ring.position == 4000)
        ring.letGo()
        loop.deliver(upTo: began + .milliseconds(720))
        #expect(ring.position == 4160)
        #expect(ring.missedFrames == 1600)
        loop.deliver(upTo: began + .milliseconds(740))
        #expect(
            stamps(ring).suffix(2) == [
                Stamp(position: 4000, instant: began + .milliseconds(700), kind: .stall, lost: 1600),
                Stamp(position: 4320, instant: began + .milliseconds(740)),
            ])
    }

    @Test func `its thread brings sound until it is stopped`() throws {
        let voice = SyntheticVoice(clock: SystemClock())
        let grant = voice.open(CaptureRequest(rateHz: 8000, channels: 2))
        let ring = Ring(format: grant.format, holding: .seconds(1), periodFrames: grant.periodFrames)
        try voice.start(into: ring)
        #expect(throws: SimulationError.self) { try voice.start(into: ring) }
        while ring.position < 800 { usleep(1000) }
        voice.stop()
        let position = ring.position
        #expect(ring.stampNumber >= 3)
        #expect(voice.end == nil)
        voice.stop()
        #expect(ring.position == position)
    }

    @Test func `it does not start into a ring of another format, or while it is closed`() {
        let voice = SyntheticVoice(clock: clock)
        let sentence = "capture: simulated: cannot start: it is not open in the ring's format, or runs already"
        #expect(throws: SimulationError(sentence)) { try voice.start(into: makeRing()) }
        _ = voice.open(CaptureRequest())
        #expect(throws: SimulationError(sentence)) { try voice.start(into: makeRing()) }
    }
}
