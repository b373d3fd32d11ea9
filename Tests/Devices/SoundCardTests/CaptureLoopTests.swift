import Glibc
import Takes
import Testing

@testable import Ring
@testable import SoundCard

struct CaptureLoopTests {
    @Test func `a wake-up copies what is there and leaves one stamp`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1, 1]
        pcm.stamps = [(0, 100, 150), (0, 250, 400)]
        let ring = ScriptedPCM.ring()
        let run = try pcm.run(into: ring)
        #expect(run.outcome == .stopped)
        #expect(run.loop.ending.why == .running)
        #expect(ring.samples == Array(0..<350))
        #expect(ring.story == ["started at 0, 50 ms", "running at 100, 150 ms", "running at 350, 400 ms"])
        #expect(
            pcm.trace == [
                "wait 10", "read 100: 100", "wait 1500", "read 100: 100", "read 100: 100", "read 50: 50", "wait 1500",
            ])
    }

    @Test func `the first frames are looked for before the first period is over`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [0, 0, 1]
        pcm.stamps = [(0, 0, 10), (0, 12, 22), (0, 88, 110)]
        let ring = ScriptedPCM.ring()
        let run = try pcm.run(into: ring)
        #expect(run.outcome == .stopped)
        #expect(ring.samples == Array(0..<100))
        #expect(ring.story == ["started at 0, 10 ms", "running at 12, 22 ms", "running at 100, 110 ms"])
        #expect(
            pcm.trace == ["wait 10", "sync", "wait 10", "sync", "read 12: 12", "wait 1500", "read 88: 88", "wait 1500"])
    }

    @Test func `a second start goes on where the ring is`() throws {
        let ring = ScriptedPCM.ring()
        for start in 0..<2 {
            let pcm = ScriptedPCM()
            pcm.milliseconds = 1000 * Int64(start)
            pcm.waits = [1]
            pcm.stamps = [(0, 100, 100 + 1000 * Int64(start))]
            _ = try pcm.run(into: ring)
        }
        #expect(
            ring.story == [
                "started at 0, 0 ms", "running at 100, 100 ms", "started at 100, 1000 ms", "running at 200, 1100 ms",
            ])
    }

    @Test func `of several channels those that are kept are copied, also after frames were dropped`() throws {
        let pcm = ScriptedPCM()
        pcm.layout = ChannelLayout(keeping: [3], of: 4)
        pcm.waits = [1, 1, 1]
        pcm.stamps = [(0, 250, 250), (0, 1000, 1250), (0, 50, 1300)]
        pcm.reads = [100, 40, -Int(EINTR), 60, 50]
        let ring = ScriptedPCM.ring()
        _ = ring.hold(from: 0)
        let loop = try pcm.loop(bufferFrames: 2000)
        defer { withExtendedLifetime(pcm) {} }
        loop.begin(ring)
        for _ in 0..<2 { #expect(loop.step(into: ring) == .running) }
        #expect(ring.position == 1000 && ring.missedFrames == 250)
        #expect(ring.samples == Array(2000..<3000))
        ring.release(upTo: 1000)
        #expect(loop.step(into: ring) == .running)
        let last = ring.withFrames(from: 1000, atMost: 50) { Array($0.assumingMemoryBound(to: Int16.self)) }
        #expect(last == Array(3250..<3300))
    }

    @Test func `a short read leaves its stamp where the card was`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1]
        pcm.stamps = [(0, 100, 150)]
        pcm.reads = [60, -Int(EAGAIN)]
        let ring = ScriptedPCM.ring()
        _ = try pcm.run(into: ring)
        #expect(ring.story == ["started at 0, 50 ms", "running at 100, 150 ms"])
        #expect(ring.position == 60)
    }

    @Test func `without a timestamp the clock is read`() throws {
        let pcm = ScriptedPCM()
        pcm.milliseconds = 200
        pcm.waits = [1]
        pcm.stamps = [(0, 100, 0)]
        let ring = ScriptedPCM.ring()
        _ = try pcm.run(into: ring)
        #expect(ring.story == ["started at 0, 101 ms", "running at 100, 201 ms"])
    }

    @Test func `a stamp is also dated on the clock that is never slewed`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1, 1]
        pcm.stamps = [(0, 100, 150), (0, 100, 250)]
        pcm.rawLead = 7_000_000_123
        let ring = ScriptedPCM.ring()
        _ = try pcm.run(into: ring)
        let leads = (0..<3).map { number in
            ring.stamp(number: number).map { $0.rawNanoseconds - $0.instant.nanoseconds }
        }
        #expect(leads == [7_000_000_123, 7_000_000_123, 7_000_000_123])
        #expect(ring.stamp(number: 1)?.instant == Instant(nanoseconds: 150_000_000))
    }

    @Test func `a PCM that is ready and does not know how much it has is asked for a period`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1]
        pcm.stamps = [(0, 0, 200)]
        let ring = ScriptedPCM.ring()
        _ = try pcm.run(into: ring)
        #expect(ring.position == 100)
        #expect(pcm.trace == ["wait 10", "read 100: 100", "wait 1500"])
    }

    // MARK: Overruns

    @Test(arguments: [true, false])
    func `after an overrun the PCM is prepared and started and the loss noted`(isSeenInRead: Bool) throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1, 1, 1]
        pcm.stamps = [(0, 100, 100), (isSeenInRead ? 0 : -EPIPE, 100, 200), (0, 100, 400)]
        pcm.reads = isSeenInRead ? [100, -Int(EPIPE)] : []
        let ring = ScriptedPCM.ring()
        let run = try pcm.run(into: ring)
        #expect(run.outcome == .stopped)
        #expect(
            ring.story == [
                "started at 0, 0 ms", "running at 100, 100 ms", "xrun at 100, 300 ms, lost -1",
                "running at 200, 400 ms",
            ])
        #expect(ring.xrunCount == 1)
        #expect(pcm.trace.filter { $0 == "prepare" || $0 == "start" } == ["prepare", "start"])
    }

    @Test func `a restart that fails three times and then works goes on`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1, 1, 0, 1, 0, 1, 0, 1, 1]
        pcm.stamps = [(0, 100, 100), (-EPIPE, 0, 0), (-EPIPE, 0, 0), (-EPIPE, 0, 0), (-EPIPE, 0, 0), (0, 100, 500)]
        pcm.starts = [-EPIPE, -EINTR, -EAGAIN, 0]
        let ring = ScriptedPCM.ring()
        let run = try pcm.run(into: ring)
        #expect(run.outcome == .stopped)
        #expect(
            ring.story == [
                "started at 0, 0 ms", "running at 100, 100 ms", "xrun at 100, 400 ms, lost -1",
                "running at 200, 500 ms",
            ])
    }

    @Test func `overruns without a frame between them end the capture`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = Array(repeating: 1, count: 100)
        pcm.stamps = Array(repeating: (-EPIPE, 0, 0), count: 100)
        let ring = ScriptedPCM.ring()
        let run = try pcm.run(into: ring)
        #expect(run.outcome == .ended)
        #expect(run.loop.ending == (.overrunAgain, -EPIPE))
        #expect(ring.story == [])
    }

    @Test func `a start that fails for good ends the capture`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1]
        pcm.stamps = [(-EPIPE, 0, 0)]
        pcm.starts = [-EIO]
        let run = try pcm.run(into: ScriptedPCM.ring())
        #expect(run.outcome == .ended)
        #expect(run.loop.ending == (.restart, -EIO))
    }

    @Test func `a card that starts late is dated by its first frame, before that frame can be read`() throws {
        // After the start request at 1000 ms, the card samples from 1040 ms on and delivers at 1140 ms.
        let pcm = ScriptedPCM()
        pcm.milliseconds = 1000
        pcm.waits = [1]
        pcm.stamps = [(0, 100, 1140)]
        let ring = ScriptedPCM.ring()
        let loop = try pcm.loop()
        loop.begin(ring)
        #expect(ring.story == [])
        _ = loop.step(into: ring)
        #expect(ring.story == ["started at 0, 1040 ms", "running at 100, 1140 ms"])
        #expect(ring.framePosition(at: Instant(nanoseconds: 1_090_000_000)) == 50)
    }

    @Test func `the frames that are lost between an overrun and the first frame after it can be counted`() throws {
        // The last stamp is from 100 ms; 30 more frames are read without one; from 730 ms on the card samples again.
        let pcm = ScriptedPCM()
        pcm.waits = [1, 1, 1, 1]
        pcm.stamps = [(0, 100, 100), (0, 100, 230), (0, 100, 240), (0, 100, 830)]
        pcm.reads = [100, 30, -Int(EPIPE), -Int(EPIPE)]
        let ring = ScriptedPCM.ring()
        _ = try pcm.run(into: ring)
        #expect(
            ring.story == [
                "started at 0, 0 ms", "running at 100, 100 ms", "xrun at 130, 730 ms, lost -1",
                "running at 230, 830 ms",
            ])
        let stamps = (0..<ring.stampNumber).compactMap { ring.stamp(number: $0) }
        let restart = try #require(stamps.firstIndex { $0.kind == .xrun })
        let (last, first) = (stamps[restart - 1], stamps[restart])
        let elapsed = ScriptedPCM.format.frames(in: first.instant - last.instant)
        #expect(elapsed - (first.position - last.position) == 600)
    }

    @Test func `a card that is stopped before its first frame leaves no stamp`() throws {
        for stamps in [[], [(status: -EPIPE, available: 0, milliseconds: 0)]]
            as [[(status: Int32, available: Int, milliseconds: Int64)]]
        {
            let pcm = ScriptedPCM()
            pcm.waits = stamps.isEmpty ? [] : [1]
            pcm.stamps = stamps
            let ring = ScriptedPCM.ring()
            let run = try pcm.run(into: ring)
            #expect(run.outcome == .stopped)
            #expect(ring.story == [])
        }
    }

    // MARK: Sleep

    @Test func `a card that resumes after the machine slept goes on without a restart`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1, 1, 0, 1, 0, 1, 1]
        pcm.stamps = [(0, 100, 100), (-ESTRPIPE, 0, 0), (-ESTRPIPE, 0, 0), (-ESTRPIPE, 0, 0), (0, 100, 300)]
        pcm.resumes = [-EAGAIN, -EAGAIN, 0]
        let ring = ScriptedPCM.ring()
        let run = try pcm.run(into: ring)
        #expect(run.outcome == .stopped)
        #expect(
            pcm.trace == [
                "wait 10", "read 100: 100", "wait 1500", "resume", "wait for stop 25", "wait 1500", "resume",
                "wait for stop 25", "wait 1500", "resume", "wait 1500", "read 100: 100", "wait 1500",
            ])
        #expect(ring.story == ["started at 0, 0 ms", "running at 100, 100 ms", "running at 200, 300 ms"])
    }

    @Test func `a card that cannot resume is started again`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1, 1, 1]
        pcm.stamps = [(0, 100, 100), (-ESTRPIPE, 0, 0), (0, 100, 300)]
        pcm.resumes = [-ENOSYS]
        let ring = ScriptedPCM.ring()
        _ = try pcm.run(into: ring)
        #expect(
            pcm.trace.filter { !$0.hasPrefix("wait") } == [
                "read 100: 100", "resume", "prepare", "start", "read 100: 100",
            ])
        #expect(
            ring.story == [
                "started at 0, 0 ms", "running at 100, 100 ms", "xrun at 100, 200 ms, lost -1",
                "running at 200, 300 ms",
            ])
    }

    @Test func `a card that resumes again and again without a frame ends the capture`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = Array(repeating: 1, count: 100)
        pcm.stamps = Array(repeating: (-ESTRPIPE, 0, 0), count: 100)
        let run = try pcm.run(into: ScriptedPCM.ring())
        #expect(run.loop.ending == (.overrunAgain, -ESTRPIPE))
        #expect(pcm.trace.count { $0 == "resume" } == 11)
    }

    // MARK: Interruptions

    @Test func `interruptions lose nothing`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [-EINTR, 1, 1, 1]
        pcm.stamps = [(-EINTR, 0, 0), (0, 100, 200), (0, 100, 300)]
        pcm.reads = [-Int(EINTR), -Int(EINTR), 70, 30, -Int(EAGAIN)]
        let ring = ScriptedPCM.ring()
        let run = try pcm.run(into: ring)
        #expect(run.outcome == .stopped)
        #expect(ring.samples == Array(0..<100))
        #expect(ring.story == ["started at 0, 100 ms", "running at 100, 200 ms"])
    }

    // MARK: Ends

    @Test(arguments: [ENODEV, ENOENT, ENXIO, ESHUTDOWN])
    func `a card that is gone ends the capture as lost`(code: Int32) throws {
        for isSeenInRead in [true, false] {
            let pcm = ScriptedPCM()
            pcm.waits = [1]
            pcm.stamps = [(isSeenInRead ? 0 : -code, 100, 100)]
            pcm.reads = [-Int(code)]
            let run = try pcm.run(into: ScriptedPCM.ring())
            #expect(run.outcome == .ended)
            #expect(run.loop.ending == (.cardLost, -code))
        }
    }

    @Test func `a bad state of a card that is gone is a lost card`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1]
        pcm.stamps = [(-EBADFD, 0, 0)]
        pcm.isGone = true
        let run = try pcm.run(into: ScriptedPCM.ring())
        #expect(run.loop.ending == (.cardLost, -EBADFD))
    }

    @Test func `an error without a remedy ends the capture as failed`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1]
        pcm.stamps = [(0, 100, 100)]
        pcm.reads = [-Int(EIO)]
        let run = try pcm.run(into: ScriptedPCM.ring())
        #expect(run.loop.ending == (.read, -EIO))
    }

    @Test func `a second and a half without a frame ends the capture`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = Array(repeating: 0, count: 1000)
        let run = try pcm.run(into: ScriptedPCM.ring())
        #expect(run.outcome == .ended)
        #expect(run.loop.ending == (.silent, 0))
        #expect(pcm.trace == Array(repeating: ["wait 10", "sync"], count: 150).flatMap(\.self))
    }

    @Test func `a second and a half without a further frame ends the capture as well`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1, 0]
        pcm.stamps = [(0, 100, 100), (0, 0, 100)]
        pcm.reads = [100, -Int(EAGAIN)]
        let run = try pcm.run(into: ScriptedPCM.ring())
        #expect(run.outcome == .ended)
        #expect(run.loop.ending == (.silent, 0))
        #expect(pcm.trace == ["wait 10", "read 100: 100", "wait 1500", "read 100: -11"])
    }

    @Test func `a card that stalls within a period ends the capture as soon, and its last frames are kept`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1, 0]
        pcm.stamps = [(0, 100, 100), (0, 49, 149)]
        let ring = ScriptedPCM.ring()
        let run = try pcm.run(into: ring)
        #expect(run.outcome == .ended)
        #expect(run.loop.ending == (.silent, 0))
        #expect(pcm.trace == ["wait 10", "read 100: 100", "wait 1500", "read 49: 49"])
        #expect(ring.position == 149)
    }

    @Test func `a PCM that is ready and has nothing is waited for, without taking the processor`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = Array(repeating: [1, 0], count: 100).flatMap(\.self)
        pcm.reads = Array(repeating: -Int(EAGAIN), count: 100)
        let run = try pcm.run(into: ScriptedPCM.ring())
        #expect(run.loop.ending == (.silent, 0))
        // 1.5 s in quarters of a period of 100 ms.
        #expect(
            pcm.trace
                == Array(repeating: ["wait 10", "read 100: -11", "wait for stop 25"], count: 60).flatMap(\.self))
    }

    @Test func `a PCM whose position stands still while it is ready ends the capture`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1] + Array(repeating: [1, 0], count: 100).flatMap(\.self)
        pcm.stamps = [(0, 100, 100)] + Array(repeating: (0, 0, 100), count: 100)
        pcm.reads = [100] + Array(repeating: -Int(EAGAIN), count: 100)
        let ring = ScriptedPCM.ring()
        let run = try pcm.run(into: ring)
        #expect(run.loop.ending == (.silent, 0))
        #expect(ring.story == ["started at 0, 0 ms", "running at 100, 100 ms"])
        #expect(pcm.trace.count { $0 == "wait for stop 25" } == 60)
    }

    @Test func `a process that was stopped for long finds its frames`() throws {
        // The wait timed out while the process was stopped, but the frames are available.
        let pcm = ScriptedPCM()
        pcm.waits = [0, 1]
        pcm.stamps = [(0, 900, 10_000), (0, 100, 10_100)]
        let ring = ScriptedPCM.ring()
        let run = try pcm.run(into: ring)
        #expect(run.outcome == .stopped)
        #expect(ring.story == ["started at 0, 9100 ms", "running at 900, 10000 ms", "running at 1000, 10100 ms"])
    }

    @Test func `a stop is noticed while the PCM has nothing`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1]
        pcm.reads = [-Int(EAGAIN)]
        let run = try pcm.run(into: ScriptedPCM.ring())
        #expect(run.outcome == .stopped)
        #expect(pcm.trace == ["wait 10", "read 100: -11", "wait for stop 25"])
    }

    // MARK: A full ring

    @Test func `frames that the ring has no room for are counted exactly, once`() throws {
        let pcm = ScriptedPCM()
        let ring = ScriptedPCM.ring()
        _ = ring.hold(from: 0)
        let loop = try pcm.loop()
        loop.begin(ring)
        for step in 1...13 {
            pcm.waits = [1]
            pcm.stamps = [(0, 100, 100 * Int64(step))]
            if step == 13 { ring.release(upTo: 300) }
            let outcome = loop.step(into: ring)
            #expect(outcome == .running)
        }
        // Ten periods fit, the next two are dropped, and the thirteenth finds room again.
        let running = (1...10).map { "running at \($0 * 100), \($0 * 100) ms" }
        #expect(ring.story == ["started at 0, 0 ms"] + running + ["stall at 1000, 1200 ms, lost 200"])
        #expect(ring.missedFrames == 200)
        #expect(ring.position == 1100)
        let next = ring.withFrames(from: 1000, atMost: 1) { $0.assumingMemoryBound(to: Int16.self)[0] }
        #expect(next == 1200)
    }

    @Test func `a ring that fills within a wake-up loses what is over`() throws {
        let pcm = ScriptedPCM()
        let ring = ScriptedPCM.ring()
        _ = ring.hold(from: 0)
        pcm.waits = [1, 1]
        pcm.stamps = [(0, 960, 960), (0, 100, 1060)]
        let run = try pcm.run(into: ring)
        #expect(run.outcome == .stopped)
        // 40 frames of the second wake-up fit. The stop leaves the stamp of the loss at the latest.
        #expect(
            ring.story == ["started at 0, 0 ms", "running at 960, 960 ms", "stall at 1000, 1060 ms, lost 60"])
        #expect(ring.position == 1000)
    }

    @Test func `an overrun while the ring is full leaves the stamps of both losses in their order`() throws {
        let pcm = ScriptedPCM()
        let ring = ScriptedPCM.ring()
        _ = ring.hold(from: 0)
        pcm.waits = [1, 1, 1, 1]
        pcm.stamps = [(0, 1000, 1000), (0, 100, 1100), (-EPIPE, 0, 0), (0, 100, 1500)]
        _ = try pcm.run(into: ring)
        #expect(
            ring.story == [
                "started at 0, 0 ms", "running at 1000, 1000 ms", "stall at 1000, 1100 ms, lost 100",
                "xrun at 1000, 1400 ms, lost -1", "stall at 1000, 1500 ms, lost 100",
            ])
    }
}
