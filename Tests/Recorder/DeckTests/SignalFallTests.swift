import Ring
import Takes
import Testing
import Transport

@testable import Deck

/// A channel that falls and stays low, from the card to the fault. The test starts at 06:18:11.
@Suite struct SignalFallTests {
    /// Amplitudes in 16 bits: −30, −81 and −60 dBFS.
    private static let (loud, pulled, quiet): (Int16, Int16, Int16) = (1036, 3, 33)

    private func rig(_ amplitudes: [Int16], for duration: Duration = .seconds(70)) throws -> Rig {
        let rig = try Rig(rateHz: 1000, channels: amplitudes.count, stuck: [.card])
        rig.card.amplitudes = amplitudes
        rig.card.gain = CardGain(gainDB: 0, rangeDB: GainRange(min: -40, max: 20, step: 1))
        rig.stuck = []
        run(rig, duration)
        return rig
    }

    private func run(_ rig: Rig, _ duration: Duration) { rig.run(duration, step: .milliseconds(250)) }

    private func signalFaults(_ rig: Rig) -> [String] {
        rig.deck.status.faults.filter { $0.code == .signal }.map(\.message)
    }

    /// The sentence about a fall 70 s after the start, or at `when`.
    private func sentence(_ rig: Rig, _ channels: String, when: String? = nil, decibels: Int = 51) -> String {
        let when = when ?? "at \(WallTime(microseconds: 1_795_241_891_000_000 + 70_000_000).localTimeOfDay)"
        return "signal: card:Scripted: the signal fell by \(decibels) dB \(when) on channel \(channels): check the "
            + "microphone's plug and cable"
    }

    @Test func `a plug that is pulled is fault 8 after a minute, with its channel, until it is back for 5 s`() throws {
        let rig = try rig([Self.loud, Self.loud])
        rig.card.amplitudes = [Self.loud, Self.pulled]
        run(rig, .seconds(59))
        #expect(signalFaults(rig) == [])
        run(rig, .seconds(5))
        #expect(signalFaults(rig) == [sentence(rig, "2")])
        rig.press(.record)
        run(rig, .seconds(10))
        #expect(rig.deck.state == .recording && signalFaults(rig) == [sentence(rig, "2")])
        rig.card.amplitudes = [Self.loud, Self.quiet]
        run(rig, .seconds(10))
        #expect(signalFaults(rig) == [sentence(rig, "2")], "it was never so quiet")
        rig.card.amplitudes = [Self.loud, Self.loud]
        run(rig, .seconds(4))
        #expect(signalFaults(rig) == [sentence(rig, "2")])
        run(rig, .seconds(4))
        #expect(signalFaults(rig) == [])
        #expect(rig.log.messages.filter { $0 == sentence(rig, "2") }.count == 1)
    }

    @Test func `the plug of a stereo microphone is one sentence`() throws {
        let rig = try rig([Self.loud, 2 * Self.loud])
        rig.card.amplitudes = [Self.pulled, Self.pulled]
        run(rig, .seconds(64))
        #expect(signalFaults(rig) == [sentence(rig, "1, 2", decibels: 57)])
    }

    @Test func `without a date it is said how long ago that was, and seldom anew`() throws {
        let rig = try rig([Self.loud])
        rig.clockOrigin = .unset
        rig.card.amplitudes = [Self.pulled]
        run(rig, .seconds(64))
        #expect(signalFaults(rig) == [sentence(rig, "1", when: "over 1 min ago")])
        run(rig, .seconds(9 * 60))
        #expect(signalFaults(rig) == [sentence(rig, "1", when: "over 10 min ago")])
        #expect(rig.log.messages.filter { $0.contains("the signal fell") }.count == 4)
        rig.clockOrigin = .manual
        run(rig, .seconds(1))
        #expect(signalFaults(rig) == [sentence(rig, "1")])
    }

    @Test func `a gain that is set begins anew`() throws {
        let rig = try rig([Self.loud])
        rig.card.amplitudes = [Self.pulled]
        run(rig, .seconds(64))
        #expect(signalFaults(rig).count == 1)
        rig.deck.perform(.gain(.decibels(6), agc: nil)) { _ in }
        run(rig, .seconds(1))
        #expect(signalFaults(rig) == [])
        rig.card.amplitudes = [Self.loud]
        run(rig, .seconds(70))
        rig.deck.perform(.gain(.decibels(-40), agc: nil)) { _ in }
        run(rig, .milliseconds(250))
        rig.card.amplitudes = [10]
        run(rig, .seconds(70))
        #expect(signalFaults(rig) == [])
    }

    @Test func `a gain that another program sets begins anew, and is known then`() throws {
        let rig = try rig([Self.loud])
        rig.card.gain.gainDB = -40
        rig.card.amplitudes = [10]
        run(rig, .seconds(90))
        #expect(signalFaults(rig) == [])
        #expect(rig.deck.status.gainDB == -40)
        #expect(rig.log.messages.filter { $0 == "capture: card:Scripted: gain -40 dB" }.count == 1)
    }

    @Test func `a mixer that does not answer leaves the fault`() throws {
        let rig = try rig([Self.loud])
        rig.card.gainFailure = GainError(.failed, "capture: card:Scripted: the mixer does not answer")
        rig.card.gain.gainDB = -40
        rig.card.amplitudes = [Self.pulled]
        run(rig, .seconds(64))
        #expect(signalFaults(rig) == [sentence(rig, "1")])
        #expect(rig.deck.status.gainDB == 0)
    }

    @Test func `digital silence is said once, and not as a fall`() throws {
        let rig = try rig([Self.loud, Self.loud])
        rig.card.amplitudes = [Self.loud, 0]
        run(rig, .seconds(90))
        #expect(
            signalFaults(rig) == [
                "signal: card:Scripted: no signal on channel 2 for 10 s: check the microphone and its cable"
            ])
        rig.card.amplitudes = [Self.pulled, 0]
        run(rig, .seconds(70))
        let when = "at \(WallTime(microseconds: 1_795_241_891_000_000 + 160_000_000).localTimeOfDay)"
        #expect(
            signalFaults(rig) == [
                "signal: card:Scripted: no signal on channel 2 for 10 s: check the microphone and its cable",
                sentence(rig, "1", when: when),
            ])
    }

    @Test func `a card that is opened anew begins anew`() throws {
        let rig = try rig([Self.loud])
        rig.card.amplitudes = [Self.pulled]
        run(rig, .seconds(64))
        #expect(signalFaults(rig).count == 1)
        rig.card.unplug()
        run(rig, .seconds(3))
        rig.card.plugIn()
        run(rig, .seconds(70))
        #expect(signalFaults(rig) == [])
    }

    @Test(arguments: [60, 70, 300]) func `when a mute ends nothing is said of a fall`(seconds: Int) throws {
        let rig = try rig([Self.loud])
        rig.card.amplitudes = [0]
        run(rig, .seconds(seconds))
        #expect(signalFaults(rig).allSatisfy { $0.hasSuffix("for 10 s: check the microphone and its cable") })
        rig.card.amplitudes = [Self.loud]
        run(rig, .seconds(10))
        #expect(rig.log.messages.filter { $0.contains("the signal fell") } == [])
        #expect(signalFaults(rig) == [])
    }

    @Test func `what became calm while the card lost sound did not fall`() throws {
        let rig = try rig([Self.loud])
        rig.card.overrun(for: .seconds(20))
        rig.card.amplitudes = [Self.quiet]
        run(rig, .seconds(90))
        #expect(signalFaults(rig) == [])
        rig.card.amplitudes = [Self.loud]
        run(rig, .seconds(10))
        rig.card.amplitudes = [Self.pulled]
        run(rig, .seconds(64))
        #expect(signalFaults(rig).count == 1, "it judges again")
    }
}
