import Ring
import Takes
import TestBench
import Testing
import Transport

@testable import Doctor

/// Delivers two seconds of silence at once, with a click in the middle.
private final class TapCard: CaptureSource {
    let endedFileDescriptor: Int32 = -1
    let end: CaptureEnd? = nil

    func open(_ request: CaptureRequest) throws -> CaptureGrant {
        CaptureGrant(
            card: "card:Tap", name: "Tap", format: StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16),
            periodFrames: 800, bufferFrames: 8000)
    }

    func start(into ring: Ring) throws {
        var done: Int64 = 0
        while done < 16_000 {
            let piece = ring.writable(min(16_000 - done, ring.maximumWriteFrames))
            let count = Int64(piece.count / 2)
            for index in piece.indices { piece[index] = done / 800 == 10 && index == 1 ? 0x3f : 0 }
            ring.commit(count)
            done += count
        }
    }

    func stop() {}
}

@Suite struct MicrophoneTrialTests {
    private let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)

    /// The loudest levels are −50 dBFS on the left and −60 on the right.
    private var trial: MicrophoneTrial {
        let quiet = [
            [Level(peak: -55, rms: -66), Level(peak: -60, rms: -70)],
            [Level(peak: -50, rms: -64), Level(peak: -61, rms: -71)],
            [Level(peak: nil, rms: nil), Level(peak: -62, rms: -72)],
        ]
        return MicrophoneTrial(quiet: quiet, format: format)
    }

    private func tap(_ left: Double?, _ right: Double?) -> MicrophoneTrial.Tap {
        .levels([left, right].map { Level(peak: $0, rms: $0.map { $0 - 10 }) })
    }

    @Test func `the quiet is what was loudest in it`() {
        #expect(trial.quiet == [Level(peak: -50, rms: -64), Level(peak: -60, rms: -70)])
    }

    @Test func `a channel has the number that it has on the card`() {
        let quiet = [[Level(peak: -55, rms: -66), Level(peak: -60, rms: -70)]]
        let check = MicrophoneTrial(quiet: quiet, format: format, numbers: [2, 5]).check(0, tap(-50, -10))
        #expect(check.subject == "channel 2" && check.message.contains(": channel 5 answered instead"))
    }

    @Test func `a tap is 12 dB above the quiet of any channel`() {
        func isTap(_ left: Double?, _ right: Double?) -> Bool {
            trial.isTap([left, right].map { Level(peak: $0, rms: nil) })
        }
        #expect(isTap(-38, nil) && isTap(nil, -48))
        #expect(!isTap(-38.1, -48.1) && !isTap(nil, nil))
        let silence = MicrophoneTrial(quiet: [[Level(peak: nil, rms: nil)]], format: format)
        #expect(silence.isTap([Level(peak: -58, rms: nil)]) && !silence.isTap([Level(peak: -58.1, rms: nil)]))
    }

    @Test func `a channel whose own microphone answers is well, also where its neighbour hears the tap`() {
        for other in [nil, -40, -13.9, -6.1] as [Double?] {
            let check = trial.check(0, tap(-12, other))
            #expect(check.outcome == .ok, "\(check.message)")
            #expect(check.message == "quiet at peak -50 dBFS, RMS -64 dBFS, tapped at peak -12 dBFS")
        }
        #expect(trial.check(0, tap(-12.0, -20)).figures["tap_channel_2_peak_dbfs"] == .number(-20))
    }

    @Test(arguments: [
        (-45.0, -12.0, "channel 2 answered instead, at -12 dBFS: the two microphones are interchanged"),
        (-30.0, -12.0, "channel 2 was louder, at -12 dBFS: the two microphones are interchanged"),
        (-45.0, -55.0, "no tap was sampled, which is at least 12 dB above the quiet"),
    ])
    func `interchanged, or deaf: both say how loud it was`(left: Double, right: Double, words: String) {
        let check = trial.check(0, tap(left, right))
        #expect(check.outcome == .failed && check.message.contains(words), "\(check.message)")
        #expect(check.message.hasPrefix("quiet at peak -50 dBFS, RMS -64 dBFS, tapped at peak \(Int(left)) dBFS: "))
    }

    @Test func `a channel without a signal is dead, whatever the other does`() {
        let silent = Level(peak: nil, rms: nil)
        let dead = MicrophoneTrial(quiet: [[silent, Level(peak: -60, rms: -70)]], format: format)
        for other in [nil, -12] as [Double?] {
            let check = dead.check(0, tap(nil, other))
            #expect(check.outcome == .failed)
            #expect(
                check.message.hasPrefix(
                    "quiet at peak silence, RMS silence, tapped at peak silence: the channel is dead"))
        }
        // A converter that alternates between two codes.
        let step = MicrophoneTrial(quiet: [[Level(peak: -90.3, rms: -96.3), silent]], format: format)
        let levels = [Level(peak: -90.3, rms: -96.3), silent]
        #expect(step.check(0, .levels(levels)).message.contains("dead"))
    }

    @Test func `what was skipped is not ok, and has the quiet`() {
        let check = trial.check(1, .skipped("skipped by the person"))
        #expect(check.outcome == .skipped && check.subject == "channel 2")
        #expect(check.figures == ["quiet_peak_dbfs": .number(-60), "quiet_rms_dbfs": .number(-70)])
    }

    @Test func `no tap is missed, however much the card delivers at a time, and none is sampled twice`() throws {
        let clock = TestClock()
        let levels = try CardLevels(CaptureRequest(), on: TapCard(), clock: clock)
        #expect(try levels.next(until: clock.now())?[0].peak.map { $0 > -7 } == true)
        clock.advance(by: .milliseconds(500))
        #expect(try levels.next(until: clock.now()) == nil)
    }

    @Test func `a card's own levels are those of its last 0.1 s`() throws {
        let clock = MadeUpStorage()
        let card = PromptCard(frames: 9_000)
        let levels = try CardLevels(CaptureRequest(), on: card, clock: clock)
        #expect(levels.format == card.format)
        let found = try #require(try levels.next(until: clock.now() + .milliseconds(1)))
        #expect(found.count == 1 && found[0].peak.map { $0 < -5 && $0 > -8 } == true)
        card.end = .cardLost("capture: hw:CARD=Prompt: the card is gone")
        #expect(throws: LevelFailure("capture: hw:CARD=Prompt: the card is gone")) {
            try levels.next(until: clock.now() + .milliseconds(1))
        }
        let broken = PromptCard(frames: 0)
        broken.cannotStart = true
        #expect(throws: LevelFailure.self) { try CardLevels(CaptureRequest(), on: broken, clock: clock) }
    }
}
