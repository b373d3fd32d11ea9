import ScriptedPlayback
import Takes
import TestBench
import Testing
import Transport
import Workers

@testable import Deck

@Suite struct PlayProgressTests {
    private func rig() throws -> Rig {
        let rig = try Rig { $0.volume = 1 }
        rig.run(.milliseconds(300))
        rig.press(.record)
        rig.run(.milliseconds(1500))
        rig.press(.stop)
        rig.settle()
        return rig
    }

    private func perform(_ command: Command, on rig: Rig) -> Status? {
        var answer: Status?
        rig.deck.perform(command) { answer = try? $0.get() }
        rig.run(.milliseconds(100), step: .milliseconds(5))
        return answer
    }

    @Test func `as long as a take is shown as playing, its position only goes forward`() throws {
        let rig = try rig()
        rig.press(.play)
        rig.run(.milliseconds(50), step: .milliseconds(5))
        var last = 0.0
        for _ in 0..<1000 where rig.deck.state == .playing {
            rig.clock.advance(by: .milliseconds(5))
            rig.sink.play()
            // The status may be requested right after any step of the player.
            _ = rig.workers.player.step()
            let position = try #require(rig.deck.status.positionSeconds)
            #expect(position >= last)
            last = position
            rig.deck.ready(now: rig.clock.now())
        }
        #expect(rig.deck.state == .idle)
        let length = Double(try rig.sidecars()[0].frames) / 8000
        #expect(abs(last - length) < 0.01)
        #expect(rig.log.messages.last?.hasSuffix("ended at \(Report.seconds(length))") ?? false)
    }

    @Test func `pitch and speed take effect at once, and last for later takes`() throws {
        let rig = try rig()
        #expect(perform(.speed(factor: 0.5, expands: true), on: rig)?.speed == 0.5)
        rig.press(.play)
        rig.run(.milliseconds(1000), step: .milliseconds(5))
        #expect(abs((rig.deck.status.positionSeconds ?? 0) - 0.5) < 0.02)
        let status = perform(.pitch(cents: -1200), on: rig)
        #expect(status?.pitchCents == -1200 && status?.speed == 0.5 && status?.expand == true)
        let before = try #require(rig.deck.status.positionSeconds)
        #expect(perform(.speed(factor: 2, expands: false), on: rig)?.expand == false)
        rig.run(.milliseconds(100), step: .milliseconds(5))
        let after = try #require(rig.deck.status.positionSeconds)
        // 28 ms at the old speed.
        #expect(abs(after - before - 0.014 - 0.344) < 0.02)
        let stem = try #require(rig.deck.status.take)
        #expect(perform(.stop, on: rig)?.take == stem)
        rig.press(.play)
        rig.run(.milliseconds(300), step: .milliseconds(5))
        #expect(abs((rig.deck.status.positionSeconds ?? 0) - 0.6) < 0.02)
        #expect(rig.deck.status.pitchCents == -1200)
        #expect(perform(.stop, on: rig)?.take == stem)
        #expect(perform(.stop, on: rig)?.take == nil)
    }
}
