import Glibc
import Takes
import TestBench
import Testing
import Workers

@testable import Ring
@testable import Simulation

@Suite struct SyntheticVoiceTests {
    private let clock = TestClock()
    private let format = StreamFormat(rateHz: 8000, channels: 2, sampleFormat: .s24Packed)

    private func makeRing(holding length: Duration = .seconds(2)) -> Ring {
        Ring(format: format, holding: length, periodFrames: 160)
    }

    private func stamps(_ ring: Ring) -> [Stamp] {
        (0..<ring.stampNumber).compactMap { ring.stamp(number: $0) }
    }

    /// The first frames of a ring that has not wrapped, all channels.
    private func samples(_ ring: Ring, _ frames: Int64) -> [Int32] {
        ring.withFrames(from: .start, atMost: frames) { bytes in
            (0..<bytes.count / 3).map { index in
                let bits = (0..<3).reduce(Int32(0)) { $0 | Int32(bytes[3 * index + $1]) << (8 * Int32($1)) }
                return (bits << 8) >> 8
            }
        }
    }

    @Test func `it grants what is asked for, else 48 kHz and one channel in 24 bits`() {
        let voice = SyntheticVoice(clock: clock)
        #expect(
            voice.open(CaptureRequest()).format
                == StreamFormat(rateHz: 48000, channels: 1, sampleFormat: .s24Packed))
        #expect(voice.open(CaptureRequest(rateHz: 8000, channels: 2, agc: false)).format == format)
        #expect(voice.open(CaptureRequest(agc: false)).warnings == [])
        let grant = voice.open(CaptureRequest(channels: .numbered([4, 2])))
        #expect(grant.format.channels == 2 && grant.layout == ChannelLayout(keeping: [4, 2], of: 4))
        #expect(voice.open(CaptureRequest(channels: .live)).layout == ChannelLayout(all: 1))
    }

    @Test func `it has a gain of 0 to 30 dB in steps of half a dB, and keeps it when it is opened again`() {
        let voice = SyntheticVoice(clock: clock)
        let range = GainRange(min: 0, max: 30, step: 0.5)
        #expect(voice.open(CaptureRequest()).gain == CardGain(gainDB: 0, rangeDB: range))
        let grant = voice.open(CaptureRequest(gainDB: 6.3))
        #expect(grant.gain == CardGain(gainDB: 6.5, rangeDB: range))
        #expect(grant.warnings == [])
        #expect(voice.open(CaptureRequest()).gain.gainDB == 6.5)
        let clamped = voice.open(CaptureRequest(gainDB: 31, agc: true))
        #expect(clamped.gain.gainDB == 30)
        #expect(
            clamped.warnings == [
                "capture: simulated: asked for 31 dB, got 30 dB (it has 0 to 30 dB)",
                "capture: simulated: cannot switch automatic gain control on: the card lacks it",
            ])
    }

    @Test func `its gain is set while it is open, within its range, and it has no automatic gain control`() throws {
        let voice = SyntheticVoice(clock: clock)
        let range = GainRange(min: 0, max: 30, step: 0.5)
        #expect(try voice.setGain(gainDB: 3, agc: nil) == nil)
        _ = voice.open(CaptureRequest())
        #expect(try voice.setGain(gainDB: 12.5, agc: false) == CardGain(gainDB: 12.5, rangeDB: range))
        #expect(
            throws: GainError(
                .outOfRange,
                "capture: simulated: cannot set a gain of -1 dB: it has 0 to 30 dB: ask for a gain in this range")
        ) { try voice.setGain(gainDB: -1, agc: nil) }
        #expect(
            throws: GainError(
                .noControl, "capture: simulated: cannot switch automatic gain control on: the card lacks it")
        ) { try voice.setGain(gainDB: 1, agc: true) }
        #expect(try voice.setGain(gainDB: nil, agc: false) == CardGain(gainDB: 12.5, rangeDB: range))
    }

    @Test func `the voice follows its gain by the ramp, and clips what is too loud`() throws {
        let gain = VoiceGain()
        let ring = makeRing(holding: .seconds(10))
        let loop = try VoiceLoop(ring: ring, gain: gain, clock: clock)
        let began = clock.now()
        loop.deliver(upTo: began + .milliseconds(1000))
        gain.set(nearest: 20)
        loop.deliver(upTo: began + .milliseconds(4000))
        var voice = Voice(rateHz: 8000)
        var ramp = GainRamp(at: 1, rateHz: 8000)
        let expected = (0..<32000).map { frame in
            let sample = voice.next() * ramp.next(toward: frame < 8000 ? 1 : 10)
            return Int32(max(-1, min(1, sample)) * 8_388_607)
        }
        let samples = samples(ring, 32000)
        #expect(samples == expected.flatMap { [$0, $0] })
        #expect(samples.contains(8_388_607) || samples.contains(-8_388_607))
    }

    @Test func `a voice that runs is made louder`() throws {
        let voice = SyntheticVoice(clock: SystemClock())
        let grant = voice.open(CaptureRequest(rateHz: 8000, channels: 2, gainDB: 30))
        // All of it is read at the end, also if this thread was kept waiting.
        let ring = Ring(format: grant.format, holding: .seconds(60), periodFrames: grant.periodFrames)
        try voice.start(into: ring)
        while ring.position < 4000 { usleep(1000) }
        _ = try voice.setGain(gainDB: 0, agc: nil)
        let set = ring.position.count
        while ring.position.count < set + 4000 { usleep(1000) }
        voice.stop()
        let samples = samples(ring, ring.position.count).map(abs)
        #expect(samples[..<Int(2 * set)].contains(8_388_607))
        #expect((samples[Int(2 * set + 6000)...].max() ?? 0) < 3_000_000)
    }

    @Test func `a ramp takes small steps, and ends at exactly what is wanted`() {
        var ramp = GainRamp(at: 1, rateHz: 8000)
        #expect(ramp.next(toward: 1) == 1)
        var last = 1.0
        var largest = 0.0
        for _ in 0..<8000 {
            let factor = ramp.next(toward: 31)
            largest = max(largest, factor - last)
            #expect(factor >= last)
            last = factor
        }
        #expect(last == 31)
        #expect(largest < 30.0 / 100)
        for _ in 0..<8000 { last = ramp.next(toward: 1) }
        #expect(last == 1)
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
        let samples = samples(ring, 2400)
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
