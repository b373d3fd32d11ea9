import Glibc
import Takes
import Testing

@testable import Ring
@testable import SoundCard

/// How the needs of the ring's readers determine when the capture thread wakes.
struct CapturePaceTests {
    @Test func `while no reader waits for frames, half a second of them wakes the thread`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1, 1]
        pcm.stamps = [(0, 100, 100), (0, 500, 600)]
        _ = try pcm.run(into: ScriptedPCM.ring(), bufferFrames: 4000)
        #expect(pcm.trace.prefix(3) == ["wait 10", "read 100: 100", "wake at 450"])
        #expect(pcm.trace.filter { $0.hasPrefix("wake") } == ["wake at 450"])
    }

    @Test(arguments: [(1599, nil), (1600, 150), (3999, 350), (4000, 450), (400_000, 450)] as [(Int, Int?)])
    func `an eighth of the buffer at most waits in the card`(bufferFrames: Int, pace: Int?) throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1]
        pcm.stamps = [(0, 100, 100)]
        _ = try pcm.run(into: ScriptedPCM.ring(), bufferFrames: bufferFrames)
        #expect(pcm.trace.filter { $0.hasPrefix("wake") } == (pace.map { ["wake at \($0)"] } ?? []))
    }

    @Test func `a reader that waits for frames gets those of the card at once, and each period from then on`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1]
        pcm.stamps = [(0, 100, 100), (0, 370, 470), (0, 100, 570)]
        let ring = ScriptedPCM.ring()
        let loop = try pcm.loop(bufferFrames: 4000)
        loop.begin(ring)
        #expect(loop.step(into: ring) == .running)
        pcm.trace = []
        let reader = RingReader(ring, isPrompt: true)
        var descriptor = pollfd(fd: ring.demand.fileDescriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&descriptor, 1, 0) == 1)
        pcm.waits = [ScriptedPCM.hurried, 1, 1]
        for _ in 0..<3 { #expect(loop.step(into: ring) == .running) }
        #expect(
            pcm.trace == [
                "wait 1500", "wake at 50", "wait 1500", "read 100: 100", "read 100: 100", "read 100: 100",
                "read 70: 70",
                "wait 1500", "read 100: 100",
            ])
        #expect(poll(&descriptor, 1, 0) == 0)
        reader.isPrompt = false
        pcm.waits = [1]
        #expect(loop.step(into: ring) == .running)
        #expect(pcm.trace.last == "wake at 450")
    }

    @Test func `a card that refuses to wait for longer is not asked again`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1, 1, 1]
        pcm.paces = [-EINVAL]
        _ = try pcm.run(into: ScriptedPCM.ring(), bufferFrames: 4000)
        #expect(pcm.trace.filter { $0.hasPrefix("wake") } == ["wake at 450"])
    }

    @Test func `a card that refuses to wake the thread soon is asked again with each step`() throws {
        let pcm = ScriptedPCM()
        pcm.waits = [1, ScriptedPCM.hurried, 1, 1, 1]
        pcm.paces = [0, -EINVAL, -EINVAL, 0]
        let ring = ScriptedPCM.ring()
        let loop = try pcm.loop(bufferFrames: 4000)
        loop.begin(ring)
        #expect(loop.step(into: ring) == .running)
        let reader = RingReader(ring, isPrompt: true)
        #expect(loop.run(into: ring) == .stopped)
        #expect(pcm.trace.filter { $0.hasPrefix("wake") } == ["wake at 450", "wake at 50", "wake at 50", "wake at 50"])
        reader.release()
    }
}
