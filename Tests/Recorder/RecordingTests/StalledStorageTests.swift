import Files
import Foundation
import PowerCuts
import Ring
import Takes
import TestBench
import Testing
import Workers

@testable import Recording
@testable import TakeFiles

/// Storage that stalls for longer than the ring's room next to the pre-roll: the ring holds 10 s, and 8 s of pre-roll
/// are requested.
@Suite struct StalledStorageTests {
    private let format = StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16)

    /// The frame at which a take's sound begins in everything that the card sampled.
    private func start(of sound: Data, in all: Data) throws -> Int {
        try #require(all.range(of: sound)).lowerBound / 2
    }

    /// Everything that a card samples in its first minute.
    private func allSampled() throws -> Data {
        let whole = try Studio(format, holding: .seconds(100))
        whole.run(.seconds(1))
        whole.begin(preRoll: .seconds(1))
        whole.run(.seconds(60))
        whole.end()
        whole.run(.seconds(1))
        return try whole.sound(#require(whole.finished.first))
    }

    @Test func `before the first frame is written, the oldest pre-roll is given up for what follows the press`() throws
    {
        let studio = try Studio(format)
        studio.run(.seconds(20))
        let pressed = studio.sampled
        studio.begin(preRoll: .seconds(8)) { studio.wait(.seconds(7)) }
        studio.run(.seconds(2))
        studio.end()
        studio.run(.seconds(1))
        let take = try #require(studio.finished.first)
        #expect(take.gaps.isEmpty && studio.ring.missedFrames == 0)
        // 7 of the ring's 10 seconds are newer than the press; one period is being written.
        #expect((22000...24000).contains(take.preRollFrames))
        #expect(take.frames == take.preRollFrames + 9 * 8000)
        #expect(take.startedMonotonicNs == 120_000_000_000 - take.preRollFrames * 125_000)
        let sound = try studio.sound(take)
        #expect(try start(of: sound, in: allSampled()) == Int(pressed - take.preRollFrames))
    }

    @Test func `while the pre-roll is written, what is given up is a gap before the press`() throws {
        let calls = FaultyCalls(root: "")
        let studio = try Studio(format, files: FileSystem(calls: calls))
        studio.run(.seconds(20))
        let pressed = studio.sampled
        // The second write of sound takes 9 seconds.
        nonisolated(unsafe) let card = studio
        let writes = Locked(0)
        calls.setRefusal { verb, file in
            guard verb == "write", file.hasSuffix(".wav.part") else { return nil }
            let isStalled = writes.withLock { count in
                count += 1
                return count == 3
            }
            if isStalled { card.wait(.seconds(9)) }
            return nil
        }
        studio.begin(preRoll: .seconds(8))
        calls.setRefusal { _, _ in nil }
        studio.run(.seconds(2))
        studio.end()
        studio.run(.seconds(1))
        let take = try #require(studio.finished.first)
        let gap = try #require(take.gaps.first)
        #expect(take.gaps.count == 1 && gap.cause == .stall && studio.ring.missedFrames == 0)
        #expect(take.preRollFrames == 64000 && take.frames == 64000 + 11 * 8000)
        #expect(gap.atFrame > .first && gap.atFrame.count + gap.frames <= 64000)
        let sound = try studio.sound(take)
        let all = try allSampled()
        let (before, after) = (gap.atFrame - .first, gap.atFrame + gap.frames - .first)
        #expect(try start(of: sound[..<Int(before * 2)], in: all) == Int(pressed - 64000))
        #expect(sound[Int(before * 2)..<Int(after * 2)].allSatisfy { $0 == 0 })
        #expect(try start(of: sound[Int(after * 2)...], in: all) == Int(pressed - 64000 + after))
    }

    @Test(arguments: [0, 2])
    func `what is overwritten since the press, before the writer gets to it, is a gap at the start`(preRoll: Int) throws
    {
        let studio = try Studio(format)
        studio.run(.seconds(20))
        let pressed = studio.sampled
        studio.begin(preRoll: .seconds(preRoll), heldUp: .seconds(14))
        studio.run(.seconds(2))
        studio.end()
        studio.run(.seconds(1))
        let take = try #require(studio.finished.first)
        #expect(take.preRollFrames == 0 && take.frames == 16 * 8000 && take.startedMonotonicNs == 120_000_000_000)
        let gap = try #require(take.gaps.first)
        // The ring holds the last 10 seconds, of which one period is being written.
        #expect(take.gaps.count == 1 && gap.atFrame == .first && gap.cause == .stall)
        #expect((4 * 8000...4 * 8000 + 4000).contains(gap.frames))
        let sound = try studio.sound(take)
        #expect(sound.prefix(Int(gap.frames) * 2).allSatisfy { $0 == 0 })
        #expect(try start(of: sound.dropFirst(Int(gap.frames) * 2), in: allSampled()) == Int(pressed + gap.frames))
    }

    @Test(arguments: [false, true])
    func `a card that goes, and comes back, before the first frame is written leaves the time between as a gap`(
        isStopped: Bool
    ) throws {
        let studio = try Studio(format)
        studio.run(.seconds(20))
        studio.begin(preRoll: .seconds(2)) {
            studio.wait(.seconds(3))
            studio.clock.advance(by: .seconds(1))
            studio.writer.post(.suspend)
            if isStopped { studio.writer.post(.end(at: studio.clock.now(), .stop, keepsTail: false)) }
            studio.clock.advance(by: .seconds(2))
            let opened = studio.reopen()
            studio.wait(.seconds(3))
            if !isStopped {
                studio.writer.post(.resume(ResumeOrder(ring: studio.ring, opened: opened, filter: studio.filter)))
            }
        }
        studio.run(.seconds(1))
        if !isStopped { studio.end() }
        studio.run(.seconds(1))
        let take = try #require(studio.finished.first)
        #expect(take.preRollFrames == 16000)
        let away = Sidecar.Gap(atFrame: TakeFrame(40000), frames: 24000, cause: .cardLost)
        #expect(take.gaps == (isStopped ? [] : [away]))
        #expect(take.parts.map(\.frames) == (isStopped ? [40000] : [40000, 32000]))
        #expect(take.parts.map(\.firstFrame.count) == (isStopped ? [0] : [0, 64000]))
        let all = try allSampled()
        #expect(try start(of: studio.sound(take).prefix(80000), in: all) == 20 * 8000 - 16000)
    }
}
