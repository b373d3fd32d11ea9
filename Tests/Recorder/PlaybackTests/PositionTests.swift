import ScriptedPlayback
import Takes
import TestBench
import Testing

@testable import Playback

/// The reported position, compared with the frames that the card played.
@Suite struct PositionTests {
    /// The errors of the reported position, at each time at which the played place is known.
    private final class Errors {
        var all: [Double] = []

        func note(_ rig: PlayRig) {
            guard let place = rig.place, let position = rig.position else { return }
            all.append(position - place)
        }

        var mean: Double { all.reduce(0, +) / Double(max(1, all.count)) }
        var greatest: Double { all.map(abs).max() ?? 0 }
    }

    /// The largest error of a single frame. Without stretching the position is exact to the frame.
    private func bound(_ tuning: Tuning) -> Double { tuning.tempo == 1 ? 0.001 : 0.010 }

    private func check(_ tuning: Tuning, _ sound: @escaping (Int) -> Double) throws {
        let rig = try PlayRig(seconds: max(0.5, 3 * tuning.speed), sound)
        rig.begin(tuning)
        let errors = Errors()
        // An odd step, so that all places of a sequence are seen.
        rig.run(.milliseconds(2500), step: .microseconds(7300)) { errors.note(rig) }
        #expect(errors.all.count > 200)
        #expect(abs(errors.mean) < 0.005)
        #expect(errors.greatest < bound(tuning))
    }

    @Test(arguments: [0.05, 0.1, 0.25, 0.5, 0.8, 1, 1.25, 1.5, 2], [true, false])
    func `the position is exact to 10 ms at every speed`(speed: Double, expands: Bool) throws {
        try check(Tuning(speed: speed, expands: expands), Waves.voice)
        try check(Tuning(speed: speed, expands: expands), Waves.noise)
    }

    @Test(arguments: [0.05, 0.1, 0.5, 1, 2], [-2400, -1200, -300, 300, 1200, 2400])
    func `the position is exact to 10 ms at every pitch`(speed: Double, cents: Int) throws {
        try check(Tuning(pitchCents: cents, speed: speed), Waves.noise)
    }

    @Test func `changes of speed in mid-play and skips leave it exact`() throws {
        let rig = try PlayRig(seconds: 12, parts: 3, Waves.voice)
        rig.begin()
        let orders: [(PlayOrder, Tuning)] = [
            (.speed(0.5, expands: true), Tuning(speed: 0.5, expands: true)),
            (.speed(2, expands: true), Tuning(speed: 2, expands: true)),
            (.skip(bySeconds: 2.5), Tuning(speed: 2, expands: true)),
            (.speed(0.1, expands: false), Tuning(speed: 0.1)),
            (.skip(bySeconds: -1), Tuning(speed: 0.1)),
            (.pitch(cents: 1200), Tuning(pitchCents: 1200, speed: 0.1)),
            (.pitch(cents: 0), Tuning(speed: 0.1)),
            (.speed(2, expands: false), Tuning(speed: 2)),
            (.skip(bySeconds: 1), Tuning(speed: 2)),
            (.speed(1, expands: false), Tuning()),
        ]
        rig.run(.milliseconds(1000))
        for (order, tuning) in orders {
            let before = try #require(rig.position)
            rig.order(order)
            let after = try #require(rig.position)
            if case .skip(let seconds) = order {
                // The target is shown at once. Its distance counts from the cut in the sound.
                #expect(abs(after - before - seconds) < 0.06)
            } else {
                // It continues from the same place.
                #expect(abs(after - before) < 0.002)
            }
            let errors = Errors()
            rig.run(.milliseconds(30), step: .microseconds(1900))
            rig.run(.milliseconds(600), step: .microseconds(7300)) { errors.note(rig) }
            #expect(errors.all.count > 20)
            #expect(abs(errors.mean) < 0.005, "\(order)")
            #expect(errors.greatest < bound(tuning), "\(order)")
        }
        rig.playOut()
        #expect(rig.end?.position == 12)
    }

    @Test func `between two reports of the player the position goes on at the speed of the take, through a change`()
        throws
    {
        let rig = try PlayRig(seconds: 4, Waves.voice)
        rig.begin()
        rig.run(.milliseconds(500))
        let start = try #require(rig.position)
        let now = rig.clock.now()
        rig.order(.speed(2, expands: true))
        let progress = try #require(rig.progress)
        // 25 ms are kept, and 3 ms of fade follow, at the old speed.
        #expect(abs(progress.seconds(at: now + .milliseconds(20)) - start - 0.020) < 0.001)
        #expect(abs(progress.seconds(at: now + .milliseconds(128)) - start - 0.028 - 0.200) < 0.001)
        #expect(progress.seconds(at: now + .seconds(100)) == 4)
    }

    @Test func `the last outcome says how far the take was played`() throws {
        let whole = try PlayRig(seconds: 1, Waves.voice)
        whole.begin(Tuning(speed: 2))
        whole.playOut()
        #expect(whole.end?.position == 1)

        let stopped = try PlayRig(seconds: 2, Waves.voice)
        stopped.begin(Tuning(speed: 0.5, expands: true))
        stopped.run(.milliseconds(1000))
        let position = try #require(stopped.position)
        stopped.order(.stop)
        stopped.playOut()
        let end = try #require(stopped.end?.position)
        // The kept sound and the fade were still played.
        #expect(abs(end - position - 0.014) < 0.001)

        let paused = try PlayRig(seconds: 2, Waves.voice)
        paused.begin()
        paused.run(.milliseconds(700))
        paused.order(.pause)
        paused.run(.milliseconds(100))
        paused.order(.skip(bySeconds: 0.5))
        let target = try #require(paused.position)
        paused.order(.stop)
        #expect(paused.end?.position == target)

        let failed = try PlayRig(seconds: 2, Waves.voice)
        failed.begin()
        failed.run(.milliseconds(700))
        failed.sink.failure = "play: card:Scripted: the card is gone"
        failed.run(.seconds(1))
        #expect(failed.end?.failure?.message == "play: card:Scripted: the card is gone")
        #expect((0.6...0.75).contains(failed.end?.position ?? 0))
    }
}
