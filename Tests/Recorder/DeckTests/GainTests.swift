import Panel
import Ring
import TakeFiles
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// Gain changes while the kit runs. At 8000 Hz a millisecond is 8 frames.
@Suite struct GainTests {
    private let range = GainRange(min: -20, max: 20, step: 1)

    private func rig(_ configure: (inout DeckOptions) -> Void = { _ in }) throws -> Rig {
        let rig = try Rig(stuck: [.card], configure)
        rig.card.gain = CardGain(gainDB: 0, rangeDB: range, agc: true)
        rig.stuck = []
        rig.turn()
        rig.run(.seconds(1))
        return rig
    }

    private final class Outcome {
        var result: Result<Status, Refusal>?
        var refusal: Refusal? {
            if case .failure(let refusal)? = result { refusal } else { nil }
        }
        var status: Status? { try? result?.get() }
    }

    private func set(_ rig: Rig, _ gain: GainSetting?, agc: Bool? = nil) -> Outcome {
        let outcome = Outcome()
        rig.deck.perform(.gain(gain, agc: agc)) { outcome.result = $0 }
        return outcome
    }

    private func gain(_ rig: Rig) -> CardGain {
        let status = rig.deck.status
        return CardGain(gainDB: status.gainDB, rangeDB: status.gainRangeDB, agc: status.agc)
    }

    @Test func `the gain of the open card is set by its worker, and answered with what the card has then`() throws {
        let rig = try rig()
        #expect(gain(rig) == CardGain(gainDB: 0, rangeDB: range, agc: true))
        rig.stuck = [.card]
        let outcome = set(rig, .decibels(6), agc: false)
        rig.run(.seconds(3))
        #expect(outcome.result == nil)
        #expect(rig.deck.status.gainDB == 0)
        rig.stuck = []
        rig.turn()
        #expect(outcome.status?.gainDB == 6)
        #expect(outcome.status?.gainRangeDB == range)
        #expect(outcome.status?.agc == false)
        #expect(gain(rig) == CardGain(gainDB: 6, rangeDB: range, agc: false))
        #expect(rig.log.messages.last == "capture: card:Scripted: gain 6 dB, automatic gain control off")
    }

    @Test func `it holds when the card is opened again, in place of the settings`() throws {
        let rig = try rig { ($0.capture.gainDB, $0.capture.agc) = (-3, false) }
        #expect(gain(rig) == CardGain(gainDB: -3, rangeDB: range, agc: false))
        _ = set(rig, .decibels(6))
        rig.turn()
        func reopen() {
            rig.card.unplug()
            rig.run(.seconds(3))
            #expect(gain(rig) == CardGain())
            rig.card.gain = CardGain(gainDB: 11, rangeDB: range, agc: true)
            rig.card.plugIn()
            rig.run(.seconds(3))
        }
        reopen()
        #expect(gain(rig) == CardGain(gainDB: 6, rangeDB: range, agc: false))
        _ = set(rig, .keep, agc: true)
        rig.turn()
        #expect(gain(rig) == CardGain(gainDB: 6, rangeDB: range, agc: true))
        reopen()
        #expect(gain(rig) == CardGain(gainDB: 11, rangeDB: range, agc: true))
    }

    @Test func `while no card is there it is accepted, and set when one is opened`() throws {
        let rig = try rig()
        rig.card.unplug()
        rig.run(.seconds(3))
        let outcome = set(rig, .decibels(6))
        rig.turn()
        #expect(outcome.status?.card == nil)
        #expect(outcome.status?.gainDB == nil)
        rig.card.plugIn()
        rig.run(.seconds(3))
        #expect(rig.deck.status.gainDB == 6)
    }

    @Test func `a gain that is asked for while the card is being opened is set once it is open`() throws {
        let rig = try Rig(stuck: [.card])
        rig.card.gain = CardGain(gainDB: 0, rangeDB: range)
        let outcome = set(rig, .decibels(6))
        rig.stuck = []
        rig.turn()
        #expect(outcome.status?.gainDB == 6)
        rig.run(.seconds(1))
        #expect(rig.deck.status.gainDB == 6)
    }

    @Test(arguments: [
        (GainError.Reason.noControl, Refusal.Code.notFound), (.outOfRange, .badData), (.failed, .io),
    ])
    func `what the card refuses is answered with its sentence, and forgotten`(
        reason: GainError.Reason, code: Refusal.Code
    ) throws {
        let rig = try rig()
        rig.card.gainFailure = GainError(reason, "capture: Scripted: cannot")
        let outcome = set(rig, .decibels(60))
        rig.turn()
        #expect(outcome.refusal == Refusal(code, "capture: Scripted: cannot"))
        #expect(rig.deck.status.gainDB == 0)
        #expect(rig.deck.status.faults == [])
        rig.card.gainFailure = nil
        rig.card.unplug()
        rig.run(.seconds(3))
        rig.card.plugIn()
        rig.run(.seconds(3))
        #expect(rig.card.opened.last?.gainDB == nil)
    }

    @Test func `a part that was set although the whole failed is in the status and in the take`() throws {
        let rig = try rig()
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.card.gainFailure = GainError(
            .failed, "capture: Scripted: cannot", gain: CardGain(gainDB: 4, rangeDB: range, agc: true))
        let outcome = set(rig, .decibels(4), agc: false)
        rig.turn()
        #expect(outcome.refusal?.code == .io)
        #expect(rig.deck.status.gainDB == 4)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.gain == [Sidecar.GainChange(atFrame: TakeFrame(8000), gainDB: 4, agc: true)])
    }

    @Test func `a take notes each change where the mixer confirmed it, loses no frame, and begins with what held then`()
        throws
    {
        let rig = try rig()
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.card.mixerTime = .milliseconds(30)
        _ = set(rig, .decibels(6))
        rig.turn()
        rig.card.mixerTime = .zero
        rig.run(.milliseconds(970))
        _ = set(rig, .decibels(-6), agc: false)
        rig.turn()
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        let sidecars = try rig.sidecars()
        #expect(
            sidecars.map(\.gain) == [
                [
                    Sidecar.GainChange(atFrame: TakeFrame(8 * 1030), gainDB: 6, agc: true),
                    Sidecar.GainChange(atFrame: TakeFrame(8 * 2000), gainDB: -6, agc: false),
                ], [],
            ])
        #expect(sidecars.map(\.gainDB) == [0, -6])
        #expect(sidecars.map(\.agc) == [true, false])
        #expect(sidecars[0].gaps == [])
        let samples = try rig.samples(sidecars[0].parts[0].file, of: sidecars[0])
        #expect(difference(samples, 8000..<8000 + Int(sidecars[0].frames)) == nil)
    }

    @Test func `a change within the pre-roll is noted where it is, and the take begins with the gain before it`() throws
    {
        let rig = try rig { $0.preRoll = .seconds(2) }
        _ = set(rig, .decibels(3))
        rig.turn()
        rig.run(.seconds(3))
        _ = set(rig, .decibels(6))
        rig.turn()
        rig.run(.seconds(1))
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.preRollFrames == 16000)
        #expect(sidecar.gainDB == 3)
        #expect(sidecar.gain == [Sidecar.GainChange(atFrame: TakeFrame(8000), gainDB: 6, agc: true)])
    }

    @Test func `a card that comes back during a take is set as asked, or its own level is noted`() throws {
        let rig = try rig()
        rig.press(.record)
        rig.run(.milliseconds(985))
        _ = set(rig, .decibels(6))
        rig.run(.seconds(1))
        func replug() {
            rig.card.unplug()
            rig.run(.seconds(3))
            rig.card.gain = CardGain(gainDB: 11, rangeDB: range, agc: true)
            rig.card.plugIn()
            rig.run(.seconds(4))
        }
        replug()
        _ = set(rig, .keep)
        replug()
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.parts.count == 3)
        #expect(sidecar.gain.map(\.gainDB) == [6, 11])
        #expect(sidecar.gain.last?.atFrame == sidecar.parts[2].firstFrame)
    }

    @Test func `a change outlives a power cut once a sync has followed it`() throws {
        let rig = try rig()
        rig.press(.record)
        rig.run(.milliseconds(985))
        _ = set(rig, .decibels(6))
        rig.turn()
        rig.run(.seconds(2))
        let after = try Rig(in: rig.cut())
        after.turn()
        let sidecar = try #require(try after.sidecars().first)
        #expect(sidecar.recovered)
        #expect(sidecar.gain == [Sidecar.GainChange(atFrame: TakeFrame(8000), gainDB: 6, agc: true)])
        #expect(sidecar.gainDB == 0)
    }
}
