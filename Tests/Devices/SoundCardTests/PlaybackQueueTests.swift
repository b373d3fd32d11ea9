import Glibc
import Takes
import Testing

@testable import SoundCard

struct PlaybackQueueTests {
    let speaker = ScriptedSpeaker()

    /// Writes numbered frames. Returns how many were accepted, or the error's sentence.
    private func write(_ frames: Range<Int16>, _ queue: inout PlaybackQueue) -> String {
        do {
            return "\(try Array(frames).withUnsafeBytes { bytes throws(SoundCardError) in try queue.write(bytes) })"
        } catch {
            return "\(error)"
        }
    }

    private func result(_ call: () throws(SoundCardError) -> Int) -> String {
        do throws(SoundCardError) {
            return "\(try call())"
        } catch {
            return error.description
        }
    }

    // MARK: Writing

    @Test func `what there is room for is queued, frame after frame`() {
        speaker.writes = [60, 30, -Int(EAGAIN), 10]
        var queue = speaker.queue()
        #expect(write(0..<200, &queue) == "90")
        #expect(write(90..<100, &queue) == "10")
        #expect(speaker.played == Array(0..<100))
        #expect(
            speaker.trace == ["write 200: 60", "write 140: 30", "write 110: -11", "write 10: 10"])
        #expect(queue.underruns == 0)
    }

    @Test func `less than a frame is nothing`() throws {
        var queue = speaker.queue()
        let none = try queue.write(UnsafeRawBufferPointer(start: nil, count: 0))
        let half = try [UInt8(1)].withUnsafeBytes { try queue.write($0) }
        #expect(none == 0 && half == 0)
        #expect(speaker.trace == [])
    }

    @Test func `after running dry the PCM is prepared and plays on`() {
        speaker.writes = [50, -Int(EPIPE), 50, -Int(EPIPE)]
        var queue = speaker.queue()
        #expect(write(0..<100, &queue) == "100")
        #expect(write(100..<200, &queue) == "100")
        #expect(speaker.played == Array(0..<200))
        #expect(queue.underruns == 2)
        #expect(
            speaker.trace == [
                "write 100: 50", "write 50: -32", "prepare", "write 50: 50", "write 100: -32", "prepare",
                "write 100: 100",
            ])
    }

    @Test(arguments: [EAGAIN, EINTR, EPIPE])
    func `a recovery that fails three times and then works plays on`(code: Int32) {
        speaker.writes = Array(repeating: -Int(EPIPE), count: 4)
        speaker.prepares = [-code, -code, -code]
        var queue = speaker.queue()
        #expect((0..<4).map { _ in write(0..<10, &queue) } == ["0", "0", "0", "10"])
        #expect(queue.underruns == 1)
    }

    @Test func `a PCM that runs dry again and again, with no frame between, is an error`() {
        speaker.writes = Array(repeating: -Int(EPIPE), count: 1000)
        var queue = speaker.queue()
        #expect(write(0..<10, &queue) == "play: hw:CARD=Speaker: cannot play on: Broken pipe")
        #expect(speaker.trace.filter { $0 == "prepare" }.count == PlaybackQueue.mostRecoveries)
        #expect(queue.underruns == 1)
    }

    @Test func `a recovery that fails otherwise is an error`() {
        speaker.writes = [-Int(EPIPE)]
        speaker.prepares = [-EIO]
        var queue = speaker.queue()
        #expect(
            write(0..<10, &queue) == "play: hw:CARD=Speaker: cannot make it ready again: Input/output error")
    }

    @Test func `after a sleep the PCM is woken, or prepared where that is not enough`() {
        speaker.writes = [-Int(ESTRPIPE), -Int(ESTRPIPE), -Int(ESTRPIPE), 5, -Int(ESTRPIPE)]
        speaker.resumes = [-EAGAIN, -EAGAIN, 0, -ENOSYS]
        var queue = speaker.queue()
        #expect((0..<3).map { _ in write(0..<10, &queue) } == ["0", "0", "10"])
        #expect(
            speaker.trace == [
                "write 10: -86", "resume", "write 10: -86", "resume", "write 10: -86", "resume", "write 10: 5",
                "write 5: -86", "resume", "prepare", "write 5: 5",
            ])
        #expect(queue.underruns == 0)
    }

    @Test func `a machine that sleeps for long is waited for`() {
        speaker.writes = Array(repeating: -Int(ESTRPIPE), count: 100)
        speaker.resumes = Array(repeating: -EAGAIN, count: 100)
        var queue = speaker.queue()
        #expect(Set((0..<100).map { _ in write(0..<10, &queue) }) == ["0"])
        #expect(write(0..<10, &queue) == "10")
    }

    @Test func `an interruption is tried again, a limited number of times`() {
        speaker.writes = Array(repeating: -Int(EINTR), count: 3)
        var queue = speaker.queue()
        #expect(write(0..<10, &queue) == "10")
        speaker.writes = Array(repeating: -Int(EINTR), count: 1000)
        #expect(write(0..<10, &queue) == "0")
    }

    @Test func `a PCM that is not ready is made so`() {
        speaker.writes = [-Int(EBADFD)]
        var queue = speaker.queue()
        #expect(write(0..<10, &queue) == "10")
        #expect(speaker.trace == ["write 10: -77", "prepare", "write 10: 10"])
        #expect(queue.underruns == 0)
    }

    // MARK: A card that is gone

    @Test(arguments: [ENODEV, ENXIO, ENOENT, ESHUTDOWN])
    func `a card that is gone is reported by every call`(code: Int32) {
        let gone = "play: hw:CARD=Speaker: the card is gone: \(String(cString: strerror(code)))"
        speaker.writes = [-Int(code), -Int(EPIPE)]
        speaker.delays = [-Int(code), -Int(code), 300]
        speaker.rewinds = [-Int(code)]
        speaker.prepares = [-code]
        var queue = speaker.queue()
        #expect(write(0..<10, &queue) == gone)
        #expect(write(0..<10, &queue) == gone)
        #expect(result { () throws(SoundCardError) in try queue.queuedFrames() } == gone)
        #expect(result { () throws(SoundCardError) in try queue.takeBack(keeping: 0) } == gone)
        #expect(result { () throws(SoundCardError) in try queue.takeBack(keeping: 0) } == gone)
    }

    @Test func `a card whose PCM is cut off is gone, whatever the code`() {
        speaker.isGone = true
        speaker.writes = [-Int(EBADFD)]
        speaker.delays = [-Int(EBADFD)]
        var queue = speaker.queue()
        let gone = "play: hw:CARD=Speaker: the card is gone: File descriptor in bad state"
        #expect(write(0..<10, &queue) == gone)
        #expect(result { () throws(SoundCardError) in try queue.queuedFrames() } == gone)
    }

    @Test func `another failure is an error with what was attempted`() {
        speaker.writes = [-Int(EIO)]
        speaker.delays = [-Int(EIO)]
        var queue = speaker.queue()
        #expect(write(0..<10, &queue) == "play: hw:CARD=Speaker: cannot write: Input/output error")
        #expect(
            result { () throws(SoundCardError) in try queue.queuedFrames() }
                == "play: hw:CARD=Speaker: cannot count what is queued: Input/output error")
    }

    // MARK: Counting

    @Test(arguments: [
        ([300], 300), ([0], 0), ([-200_000], 0), ([-Int(EPIPE)], 0), ([-Int(ESTRPIPE)], 0), ([-Int(EBADFD)], 0),
        ([-Int(EINTR), -Int(EAGAIN), 300], 300),
    ])
    func `what is queued is counted, and nothing is once it ran dry`(delays: [Int], queued: Int) throws {
        speaker.delays = delays
        let queue = speaker.queue()
        #expect(try queue.queuedFrames() == queued)
    }

    @Test func `a PCM that is always interrupted is an error`() {
        speaker.delays = Array(repeating: -Int(EINTR), count: 1000)
        let queue = speaker.queue()
        #expect(
            result { () throws(SoundCardError) in try queue.queuedFrames() }
                == "play: hw:CARD=Speaker: cannot count what is queued: Interrupted system call")
    }

    // MARK: Taking back

    @Test func `what is queued is taken back but for what is kept`() throws {
        speaker.delays = [300, 300, 300, 100, 300, 300]
        speaker.rewindables = [400, 250, 400, -Int(EPIPE), 400]
        speaker.rewinds = [.max, .max, .max, 150]
        let queue = speaker.queue()
        #expect(try (0..<6).map { _ in try queue.takeBack(keeping: 100) } == [200, 200, 200, 0, 0, 150])
        #expect(try queue.takeBack(keeping: 100) == 0)
    }

    @Test func `what the hardware may be fetching is never taken back`() throws {
        speaker.delays = [300, 300, 2, 300, 22, 300]
        speaker.rewindables = [400, 250, 400, 100]
        let queue = speaker.queue()
        #expect(try (0..<3).map { _ in try queue.takeBack(keeping: 0) } == [298, 248, 0])
        let coarse = speaker.queue(movesByPeriods: true)
        #expect(try (0..<3).map { _ in try coarse.takeBack(keeping: 0) } == [278, 0, 78])
    }

    @Test func `a PCM that takes nothing back returns 0`() throws {
        let pluginQueue = speaker.queue(canTakeBack: false)
        #expect(try pluginQueue.takeBack(keeping: 0) == 0)
        #expect(speaker.trace == [])
        speaker.delays = [300, 300, -Int(EPIPE)]
        speaker.rewinds = [-Int(ENOSYS), 0]
        let queue = speaker.queue()
        #expect(try (0..<3).map { _ in try queue.takeBack(keeping: 100) } == [0, 0, 0])
    }

    @Test func `what is dropped leaves the PCM ready`() {
        var queue = speaker.queue()
        queue.drop()
        #expect(write(0..<10, &queue) == "10")
        #expect(speaker.trace == ["drop", "prepare", "write 10: 10"])
    }
}
