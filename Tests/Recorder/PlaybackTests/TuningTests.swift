import Foundation
import ScriptedPlayback
import Takes
import Testing

@testable import Playback

/// The sound at other pitches and speeds.
@Suite struct TuningTests {
    private func playOut(_ tuning: Tuning, seconds: Double, _ sound: @escaping (Int) -> Double) throws -> PlayRig {
        let rig = try PlayRig(seconds: seconds, sound)
        rig.begin(tuning)
        rig.playOut()
        #expect(rig.end?.failure == nil)
        return rig
    }

    /// Enough of a take for some seconds of sound.
    private func length(_ speed: Double) -> Double { max(0.5, 2 * speed) }

    @Test(arguments: [-2400, -1200, 0, 700, 1200, 2400], [0.05, 0.1, 0.5, 1, 2])
    func `at any speed a tone is as high as the pitch says, and the take lasts as long as the speed says`(
        cents: Int, speed: Double
    ) throws {
        let tuning = Tuning(pitchCents: cents, speed: speed)
        let rig = try playOut(tuning, seconds: length(speed), Waves.sine(500))
        let sound = rig.sound
        let middle = sound[sound.count / 5..<sound.count * 4 / 5]
        let expected = 500 * pow(2, Double(cents) / 1200)
        #expect(abs(Waves.frequency(middle) / expected - 1) < 0.003)
        // As loud as before.
        let power = middle.reduce(0) { $0 + $1 * $1 } / Double(middle.count)
        #expect(abs(power - 0.125) < 0.01)
        #expect(abs(Double(sound.count) - Double(rig.frames) / speed) <= 0.02 * Double(PlayRig.rateHz))
    }

    @Test(arguments: [0.05, 0.1, 0.5, 1, 2])
    func `expanded, a tone is as much lower as the take is longer`(speed: Double) throws {
        let rig = try playOut(Tuning(speed: speed, expands: true), seconds: length(speed), Waves.sine(500))
        let sound = rig.sound
        let middle = sound[sound.count / 5..<sound.count * 4 / 5]
        #expect(abs(Waves.frequency(middle) / (500 * speed) - 1) < 1e-5)
        #expect(abs(Double(sound.count) - Double(rig.frames) / speed) <= 2)
    }

    @Test func `pitch and expansion add up`() throws {
        let rig = try playOut(Tuning(pitchCents: 1200, speed: 0.1, expands: true), seconds: 0.5, Waves.sine(1000))
        let sound = rig.sound
        #expect(abs(Waves.frequency(sound[sound.count / 5..<sound.count * 4 / 5]) / 200 - 1) < 0.003)
        #expect(abs(Double(sound.count) - Double(rig.frames) * 10) <= 0.02 * Double(PlayRig.rateHz))
    }

    @Test func `as recorded, not a bit changes`() throws {
        let rig = try playOut(Tuning(speed: 1, expands: true), seconds: 1, Waves.voice)
        let sound = rig.sound.map { Int32(($0 * 2_147_483_647).rounded()) }
        #expect(sound == (0..<rig.frames).map { Int32((Waves.voice($0) * 2_147_483_647).rounded()) })
    }

    @Test(arguments: [0.05, 0.1, 0.5, 0.9, 1.1, 2], [-1200, 0, 1200])
    func `the first and the last hundredths of a second of a take are played`(speed: Double, cents: Int) throws {
        // Different tones at both ends, long enough to be distinguished.
        let (total, edge) = (Int(0.8 * 16000), Int(0.06 * 16000))
        let rig = try playOut(Tuning(pitchCents: cents, speed: speed), seconds: 0.8) { frame in
            switch frame {
            case ..<edge: Waves.sine(1500)(frame)
            case (total - edge)...: Waves.sine(2500)(frame)
            default: Waves.sine(500)(frame)
            }
        }
        let sound = rig.sound
        let ends = Int(Double(edge) / speed)
        let factor = pow(2, Double(cents) / 1200)
        // Within each end, away from its borders.
        let first = sound[ends / 4..<ends * 3 / 5]
        let last = sound[(sound.count - ends * 3 / 5)..<(sound.count - ends / 4)]
        #expect(abs(Waves.frequency(first) / (1500 * factor) - 1) < 0.05)
        #expect(abs(Waves.frequency(last) / (2500 * factor) - 1) < 0.05)
    }

    @Test(arguments: [
        (Tuning(), Tuning(speed: 0.5)), (Tuning(), Tuning(pitchCents: -1200)),
        (Tuning(), Tuning(speed: 0.1, expands: true)), (Tuning(speed: 2), Tuning(speed: 0.05)),
        (Tuning(speed: 0.1), Tuning()), (Tuning(pitchCents: 1200), Tuning(pitchCents: 1200, speed: 0.7)),
    ])
    func `a change while playing makes no click`(before: Tuning, after: Tuning) throws {
        let rig = try PlayRig(seconds: 4, Waves.sine(200))
        rig.begin(before)
        rig.run(.milliseconds(600))
        if before.pitchCents != after.pitchCents { rig.order(.pitch(cents: after.pitchCents)) }
        if before.speed != after.speed { rig.order(.speed(after.speed, expands: after.expands)) }
        #expect(rig.done == 1)
        rig.run(.milliseconds(300))
        // Away from the take's own beginning.
        let sound = Array(rig.sound.dropFirst(6400))
        // No corner is sharper than those of the highest tone, faded within 3 ms.
        let turn = 2 * .pi * 400 / Double(PlayRig.rateHz)
        let fade = 0.003 * Double(PlayRig.rateHz)
        let steepest: Double = turn * turn + 3 * turn / fade + 6 / (fade * fade)
        let limit = 0.75 * steepest
        let steps = zip(sound.dropFirst(), sound).map { $0 - $1 }
        let corners = zip(steps.dropFirst(), steps).map { abs($0 - $1) }
        #expect((corners.max() ?? 1) < limit)
        // The gap lasts no longer than both fades and the start of the stretching.
        let quiet = sound.indices.dropLast(160).filter { index in
            sound[index..<index + 160].allSatisfy { abs($0) < 0.02 }
        }
        #expect(quiet.count < 16 * 20)
    }

    @Test func `what is set while paused holds once it goes on`() throws {
        let rig = try PlayRig(seconds: 2, Waves.sine(500))
        rig.begin()
        rig.run(.milliseconds(500))
        rig.order(.pause)
        rig.run(.milliseconds(100))
        let position = try #require(rig.position)
        rig.order(.pitch(cents: 1200))
        rig.order(.speed(0.5, expands: true))
        #expect(rig.position == position)
        rig.sink.clear()
        rig.order(.resume)
        rig.playOut()
        let sound = rig.sound
        #expect(abs(Waves.frequency(sound[sound.count / 5..<sound.count * 4 / 5]) / 500 - 1) < 0.003)
        #expect(abs(Double(sound.count) / 32000 - (2 - position)) < 0.02)
    }

    @Test func `a setting that sounds the same interrupts nothing`() throws {
        let rig = try PlayRig(seconds: 1, Waves.voice)
        rig.begin()
        rig.run(.milliseconds(300))
        rig.order(.speed(1, expands: true))
        rig.order(.pitch(cents: 0))
        #expect(rig.done == 2)
        rig.playOut()
        #expect(rig.sound.count == rig.frames)
        #expect(rig.sound[5000] == Double(Int32((Waves.voice(5000) * 2_147_483_647).rounded())) / 2_147_483_647)
    }
}
