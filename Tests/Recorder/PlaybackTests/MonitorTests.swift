import Filters
import Live
import Ring
import ScriptedPlayback
import Takes
import TestBench
import Testing
import Workers

@testable import Playback

/// The monitor plays the captured sound.
@Suite struct MonitorTests {
    /// A capture card that delivers periods into a real ring, and a playback card that plays as the clock advances. The
    /// left sample of frame `n` is `n` of 16 bits, so each played frame shows when it was captured. The right sample is
    /// `mark`.
    private final class Rig {
        let clock = TestClock()
        let sink: ScriptedSink
        let player: Worker<PlayOrder, PlayOutcome>
        private(set) var ring: Ring
        private(set) var reports: [MonitorReport] = []
        /// How much faster the capture card runs, in millionths.
        var drift = 0.0
        private var due = 0.0

        static let rateHz = 48000
        private static let mark: Int16 = 1000
        static let period: Int64 = 960
        static let format = StreamFormat(rateHz: rateHz, channels: 2, sampleFormat: .s16)

        init() {
            sink = ScriptedSink(clock: clock)
            sink.bufferFrames = 4320
            player = Player.worker(sink: sink, clock: clock)
            ring = Self.newRing(Self.format)
        }

        static func newRing(_ format: StreamFormat) -> Ring {
            Ring(format: format, holding: .seconds(5), periodFrames: Int(period))
        }

        func monitor(volume: Double = 1, _ ring: Ring? = nil) {
            self.ring = ring ?? self.ring
            player.post(
                .monitor(
                    MonitorRequest(
                        source: LiveSource(ring: self.ring, design: .off(rateHz: self.ring.format.rateHz)),
                        card: .automatic, companion: nil, volume: volume)))
        }

        private func deliver() {
            let channels = ring.format.channels
            var left = Self.period
            while left > 0 {
                let first = ring.position.count
                let samples = ring.writable(left).bindMemory(to: Int16.self)
                for index in samples.indices {
                    let frame = first + Int64(index / channels)
                    samples[index] = index % channels == 1 ? Self.mark : Int16(truncatingIfNeeded: frame)
                }
                ring.commit(Int64(samples.count / channels))
                left -= Int64(samples.count / channels)
            }
        }

        func run(_ duration: Duration, step: Duration = .milliseconds(5)) {
            var left = duration
            while left > .zero {
                clock.advance(by: step)
                left -= step
                due += step.inSeconds * Double(ring.format.rateHz) * (1 + drift / 1e6)
                while due >= Double(Self.period) {
                    deliver()
                    due -= Double(Self.period)
                }
                turn()
            }
        }

        func turn() {
            sink.play()
            _ = player.step()
            for case .monitor(let report) in player.outcomes() { reports.append(report) }
        }

        /// The numbers of the captured frames that were played at full volume.
        var frames: [Int16] {
            let samples = sink.samples
            return stride(from: 0, to: samples.count - 1, by: 2).filter { samples[$0 + 1] == Self.mark }
                .map { samples[$0] }
        }

        /// The greatest possible age in seconds of the frame that was played last, counted from its delivery.
        var age: Double {
            let last = frames.last ?? 0
            return Double(Int16(truncatingIfNeeded: ring.position.count - 1) &- last) / Double(Self.rateHz)
        }

        /// The steps between frames that do not follow each other.
        var steps: [Int] {
            let frames = frames
            return zip(frames, frames.dropFirst()).map { Int($1 &- $0) }.filter { $0 != 1 }
        }
    }

    @Test func `what is captured is played, frame by frame, within 60 ms`() {
        let rig = Rig()
        rig.monitor()
        rig.run(.seconds(1))
        rig.sink.clear()
        rig.run(.seconds(5))
        #expect(rig.reports == [.began("card:Scripted: 48000 Hz, 2 channels, S16_LE")])
        #expect(rig.sink.requests.map(\.latency) == [MonitoredSound.buffer])
        #expect(rig.steps == [] && rig.frames.count > 235_000)
        #expect(rig.age < 0.06)
    }

    @Test(arguments: [-150.0, -40, 40, 150])
    func `cards that drift apart cost single frames, and the delay stays`(drift: Double) {
        let rig = Rig()
        rig.drift = drift
        rig.monitor()
        rig.run(.seconds(2))
        rig.sink.clear()
        rig.run(.seconds(60))
        let steps = rig.steps
        #expect(steps.allSatisfy { $0 == (drift > 0 ? 2 : 0) })
        #expect(abs(Double(steps.count) - abs(drift) * 60 * 0.048) < 300)
        #expect(rig.age < 0.06)
    }

    @Test func `a queue that ran dry is filled to the target again`() {
        let rig = Rig()
        rig.monitor()
        rig.run(.seconds(2))
        // The player gets no processor time for a second.
        rig.clock.advance(by: .seconds(1))
        rig.sink.clear()
        rig.run(.seconds(5))
        #expect(rig.age < 0.06)
        #expect(rig.steps.count <= 3)
    }

    @Test func `a player that was late does not stay late`() {
        let rig = Rig()
        rig.monitor()
        rig.run(.seconds(2))
        rig.sink.isStuck = true
        rig.run(.milliseconds(400))
        rig.sink.isStuck = false
        rig.run(.seconds(5))
        #expect(rig.age < 0.06)
    }

    @Test func `the ring is not held, however slow the card is that plays`() {
        let rig = Rig()
        rig.monitor()
        rig.run(.seconds(1))
        rig.sink.isStuck = true
        rig.run(.seconds(2))
        #expect(rig.ring.writableFrames() == rig.ring.maximumWriteFrames)
    }

    @Test func `a take that begins to play has the card, and the monitor goes on after it`() throws {
        let rig = Rig()
        rig.monitor()
        rig.run(.milliseconds(500))
        let take = try PlayRig(seconds: 0.5, Waves.sine(500))
        rig.player.post(.begin(take.beginning()))
        rig.run(.milliseconds(200))
        #expect(rig.sink.requests.map(\.latency) == [MonitoredSound.buffer, nil])
        rig.run(.seconds(2))
        #expect(rig.sink.requests.map(\.latency) == [MonitoredSound.buffer, nil, MonitoredSound.buffer])
        #expect(rig.sink.isOpen && rig.reports.count == 2)
    }

    @Test func `a take that cannot be played leaves the monitor as it was`() throws {
        let rig = Rig()
        rig.monitor()
        rig.run(.milliseconds(500))
        rig.sink.refusal = { .init(text: "play: hw:CARD=Scripted: cannot open: Device or resource busy") }
        let take = try PlayRig(seconds: 0.5, Waves.sine(500))
        rig.player.post(.begin(take.beginning()))
        rig.run(.milliseconds(10))
        rig.sink.refusal = { nil }
        rig.run(.seconds(4))
        #expect(rig.sink.isOpen)
    }

    @Test func `a card that cannot be opened is reported once and tried again`() {
        let rig = Rig()
        rig.sink.refusal = { .init(text: "play: hw:CARD=Scripted: cannot open: Device or resource busy") }
        rig.monitor()
        rig.run(.seconds(10))
        #expect(rig.reports == [.failed("play: hw:CARD=Scripted: cannot open: Device or resource busy")])
        #expect(rig.sink.requests.count == 4)
        rig.sink.refusal = { nil }
        rig.run(.seconds(4))
        #expect(rig.reports.last == .began("card:Scripted: 48000 Hz, 2 channels, S16_LE") && rig.reports.count == 2)
        rig.sink.failure = "play: hw:CARD=Scripted: the card is gone: No such device"
        rig.run(.seconds(1))
        #expect(rig.reports.last == .failed("play: hw:CARD=Scripted: the card is gone: No such device"))
        rig.sink.failure = nil
        rig.run(.seconds(4))
        #expect(rig.sink.isOpen && rig.reports.count == 4)
    }

    @Test func `a card that plays nothing is reported and opened again`() {
        let rig = Rig()
        rig.monitor()
        rig.run(.seconds(1))
        rig.sink.isStuck = true
        rig.run(.seconds(5))
        #expect(rig.reports.last == .failed("card:Scripted: it played nothing for 3 s"))
        rig.sink.isStuck = false
        rig.run(.seconds(5))
        #expect(rig.reports.count == 3 && rig.age < 0.06)
    }

    @Test func `without a source the card is closed`() {
        let rig = Rig()
        rig.monitor()
        rig.run(.seconds(1))
        rig.player.post(.monitor(nil))
        rig.run(.milliseconds(10))
        #expect(!rig.sink.isOpen)
        let played = rig.frames.count
        rig.run(.seconds(1))
        #expect(rig.frames.count == played)
    }

    @Test func `a card of another rate and one channel is resampled to what the playing card has`() {
        let rig = Rig()
        rig.sink.format = Rig.format
        let format = StreamFormat(rateHz: 16000, channels: 1, sampleFormat: .s16)
        rig.monitor(Rig.newRing(format))
        rig.run(.seconds(5))
        #expect(rig.sink.requests.map(\.format) == [format])
        #expect(abs(rig.sink.samples.count / 2 - 5 * 48000) < 15_000)
    }

    @Test func `the volume goes to another without a step, while the card stays open`() {
        let rig = Rig()
        rig.monitor(volume: 0)
        rig.run(.seconds(1))
        #expect(rig.sink.samples.allSatisfy { $0 == 0 })
        rig.monitor(volume: 1)
        rig.run(.milliseconds(200))
        rig.sink.clear()
        rig.run(.seconds(1))
        #expect(rig.frames.count > 40_000 && rig.steps == [])
        #expect(rig.sink.requests.count == 1)
    }
}
