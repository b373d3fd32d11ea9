import Glibc
import Ring
import Takes
import Testing

@testable import SoundCard

@Suite struct GainControlsTests {
    private let mixer = ScriptedMixer()

    private func set(_ gainDB: Double?, agc: Bool? = nil) throws -> Result<CardGain, GainError> {
        let controls = try mixer.controls()
        do throws(GainError) {
            return .success(try controls.set(gainDB: gainDB, agc: agc))
        } catch {
            return .failure(error)
        }
    }

    private let range = GainRange(min: -20, max: 20, step: 1)

    // MARK: Setting an open card

    @Test func `the nearest step is set, and what the card has then is read back`() throws {
        #expect(try set(7.4, agc: false) == .success(CardGain(gainDB: 7, rangeDB: range, agc: false)))
        #expect(try set(-20) == .success(CardGain(gainDB: -20, rangeDB: range, agc: false)))
        #expect(try set(19.6) == .success(CardGain(gainDB: 20, rangeDB: range, agc: false)))
        #expect(mixer.trace == ["gain 27", "agc false", "gain 0", "gain 40"])
    }

    @Test func `a gain that was read back is set to the same step again, whatever ALSA rounds`() throws {
        mixer.scale = (0..<40).map { $0 * 4700 / 39 - 1200 }
        mixer.least = 3
        for step in 3..<43 {
            mixer.step = step
            let gain = try mixer.controls().apply(gainDB: nil, agc: nil).gain.gainDB
            _ = try set(gain)
            #expect(mixer.step == step)
        }
    }

    @Test func `nothing is set that is not asked for, and nothing is loaded twice for it`() throws {
        #expect(try set(nil, agc: nil) == .success(CardGain(gainDB: 0, rangeDB: range, agc: true)))
        #expect(mixer.trace == [])
        #expect(mixer.loads == 1)
    }

    @Test func `a capture that is switched off is switched on with its gain`() throws {
        mixer.isCaptureOn = false
        _ = try set(3)
        #expect(mixer.trace == ["gain 23", "capture on"])
    }

    @Test func `a gain out of the range is refused with the range, and nothing is set`() throws {
        for (gainDB, text) in [(20.5, "20.5"), (-45, "-45")] {
            let sentence =
                "capture: hw:CARD=Mic: cannot set a gain of \(text) dB: Mic has -20 to 20 dB: ask for a gain in this range"
            #expect(try set(gainDB, agc: false) == .failure(GainError(.outOfRange, sentence)))
        }
        #expect(mixer.trace == [])
    }

    @Test func `a card without a gain, or without automatic gain control, refuses them, and nothing is set`() throws {
        mixer.hasAGC = false
        #expect(
            try set(3, agc: true)
                == .failure(
                    GainError(
                        .noControl,
                        "capture: hw:CARD=Mic: cannot switch automatic gain control on: the card lacks it")))
        #expect(try set(nil, agc: false) == .success(CardGain(gainDB: 0, rangeDB: range)))
        mixer.hasGain = false
        #expect(
            try set(3)
                == .failure(
                    GainError(
                        .noControl,
                        "capture: hw:CARD=Mic: cannot set a gain of 3 dB: the card has no capture gain: set the level at the "
                            + "microphone or its preamplifier")))
        #expect(try set(nil, agc: false) == .success(CardGain()))
        #expect(mixer.trace == [])
    }

    @Test func `a call that fails is a sentence, with what the card has then`() throws {
        mixer.results["set gain"] = [-EIO]
        #expect(
            try set(3)
                == .failure(
                    GainError(
                        .failed, "capture: hw:CARD=Mic: cannot set a gain of 3 dB on Mic: Input/output error",
                        gain: CardGain(gainDB: 0, rangeDB: range, agc: true))))
        mixer.results["set switch"] = [-EPERM]
        #expect(
            try set(3, agc: false)
                == .failure(
                    GainError(
                        .failed,
                        "capture: hw:CARD=Mic: cannot switch Auto Gain Control off: Operation not permitted",
                        gain: CardGain(gainDB: 3, rangeDB: range, agc: true))))
        mixer.isCaptureOn = false
        mixer.results["switch on"] = [-EIO]
        #expect(
            try set(4)
                == .failure(
                    GainError(
                        .failed, "capture: hw:CARD=Mic: cannot switch Mic on: Input/output error",
                        gain: CardGain(gainDB: 4, rangeDB: range, agc: true))))
        #expect(try set(5) == .success(CardGain(gainDB: 5, rangeDB: range, agc: true)))
    }

    @Test func `a card that is gone when the gain is read back is a failure without a gain`() throws {
        mixer.results["load"] = [0, -ENODEV, -ENODEV]
        #expect(
            try set(3)
                == .failure(
                    GainError(.failed, "capture: hw:CARD=Mic: cannot open its mixer: No such device", gain: nil)))
        mixer.results["read gain"] = [-ENODEV, -ENODEV]
        #expect(
            try set(3)
                == .failure(
                    GainError(.failed, "capture: hw:CARD=Mic: cannot read the gain of Mic: No such device", gain: nil)))
        mixer.results["read switch"] = [-EIO, -EIO]
        #expect(
            try set(nil, agc: true)
                == .failure(
                    GainError(
                        .failed, "capture: hw:CARD=Mic: cannot read Auto Gain Control: Input/output error", gain: nil)))
    }

    @Test func `a card that accepts a value and keeps another is reported`() throws {
        mixer.isStuck = true
        #expect(
            try set(12)
                == .failure(
                    GainError(
                        .failed, "capture: hw:CARD=Mic: asked Mic for 12 dB, got 0 dB (it has -20 to 20 dB)",
                        gain: CardGain(gainDB: 0, rangeDB: range, agc: true))))
        #expect(
            try set(nil, agc: false)
                == .failure(
                    GainError(
                        .failed,
                        "capture: hw:CARD=Mic: cannot switch Auto Gain Control off: the card keeps it on",
                        gain: CardGain(gainDB: 0, rangeDB: range, agc: true))))
    }

    // MARK: Opening a card

    @Test func `at its opening a card is given what it can have, with a warning for the rest`() throws {
        #expect(
            try mixer.controls().apply(gainDB: 45, agc: false)
                == GainControls.Applied(
                    gain: CardGain(gainDB: 20, rangeDB: range, agc: false),
                    warnings: ["capture: hw:CARD=Mic: asked Mic for 45 dB, got 20 dB (it has -20 to 20 dB)"]))
        mixer.results["set gain"] = [-EIO]
        mixer.results["set switch"] = [-EIO]
        #expect(
            try mixer.controls().apply(gainDB: 19.5, agc: true)
                == GainControls.Applied(
                    gain: CardGain(gainDB: 20, rangeDB: range, agc: false),
                    warnings: [
                        "capture: hw:CARD=Mic: cannot set a gain of 19.5 dB on Mic: Input/output error",
                        "capture: hw:CARD=Mic: cannot switch Auto Gain Control on: Input/output error",
                    ]))
        (mixer.hasGain, mixer.hasAGC) = (false, false)
        #expect(
            try mixer.controls().apply(gainDB: 1, agc: true)
                == GainControls.Applied(
                    gain: CardGain(),
                    warnings: [
                        "capture: hw:CARD=Mic: cannot set a gain of 1 dB: the card has no capture gain: set the level at the "
                            + "microphone or its preamplifier",
                        "capture: hw:CARD=Mic: cannot switch automatic gain control on: the card lacks it",
                    ]))
    }

    @Test func `a capture that is switched off is a warning where no gain is asked for`() throws {
        mixer.isCaptureOn = false
        let applied = try mixer.controls().apply(gainDB: nil, agc: nil)
        #expect(applied.gain == CardGain(gainDB: 0, rangeDB: range, agc: true))
        #expect(
            applied.warnings == [
                "capture: hw:CARD=Mic: Mic is switched off on the card: it may record silence (set gain_db, or switch it on "
                    + "with alsamixer)"
            ])
    }

    // MARK: Scales

    @Test func `a mute step is no part of the range, and steps that differ are none`() throws {
        mixer.scale = [-9_999_999] + stride(from: -4500, through: 0, by: 30)
        mixer.least = -50
        mixer.step = -49
        let fine = GainRange(min: -45, max: 0, step: 0.3)
        #expect(try set(-45) == .success(CardGain(gainDB: -45, rangeDB: fine, agc: true)))
        #expect(mixer.step == -49)
        mixer.least = 0
        mixer.step = 0
        mixer.scale = [-3000, -1000, 0, 500]
        #expect(try set(4) == .success(CardGain(gainDB: 5, rangeDB: GainRange(min: -30, max: 5), agc: true)))
        mixer.step = 0
        mixer.scale = [0]
        #expect(try set(0) == .success(CardGain(gainDB: 0, rangeDB: GainRange(min: 0, max: 0), agc: true)))
    }

    @Test func `a volume without a scale in dB has no gain`() throws {
        mixer.scale = nil
        #expect(try mixer.controls().apply(gainDB: nil, agc: nil).gain == CardGain(agc: true))
        #expect(
            try set(3)
                == .failure(
                    GainError(
                        .failed,
                        "capture: hw:CARD=Mic: cannot set a gain of 3 dB on Mic: it has no scale in dB: set it with alsamixer",
                        gain: CardGain(agc: true))))
    }
}
