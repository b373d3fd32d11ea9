import Glibc
import SeededRandom
import Synchronization
import Takes
import Testing
import Workers

@testable import Ring

/// Mono, 32 bits: the content of a frame is its position.
private let format = StreamFormat(rateHz: 1000, channels: 1, sampleFormat: .s32)

private func write(_ count: Int64, to ring: Ring) {
    var left = count
    while left > 0 {
        let room = ring.writableFrames()
        guard room > 0 else { return }
        let first = ring.position.count
        let samples = ring.writable(min(left, room)).bindMemory(to: Int32.self)
        for index in samples.indices { samples[index] = Int32(truncatingIfNeeded: first + Int64(index)) }
        ring.commit(Int64(samples.count))
        left -= Int64(samples.count)
    }
}

/// The first position in some bytes, the number of positions, and whether they are consecutive.
private func content(_ bytes: UnsafeRawBufferPointer) -> (first: Int32, count: Int, isWhole: Bool) {
    let samples = bytes.bindMemory(to: Int32.self)
    let isWhole = samples.indices.allSatisfy { samples[$0] == samples[0] &+ Int32($0) }
    return (samples[0], samples.count, isWhole)
}

struct RingReaderTests {
    @Test func `each reader has a cursor of its own`() {
        let ring = Ring(format: format, holding: .seconds(1), periodFrames: 100)
        let early = RingReader(ring)
        write(300, to: ring)
        let late = RingReader(ring)
        write(100, to: ring)
        #expect(early.waitingFrames == 400 && late.waitingFrames == 100)
        guard case .frames(400, (0, 400, true)) = early.read({ content($0) }),
            case .frames(60, (300, 60, true)) = late.read(atMost: 60, { content($0) }),
            case .frames(40, (360, 40, true)) = late.read({ content($0) }),
            case .nothing = late.read({ content($0) })
        else {
            Issue.record("other frames were read")
            return
        }
        #expect(early.position == 400 && late.position == 400)
    }

    @Test func `a reader that is lapped learns how many frames it skipped, and goes on with younger ones`() {
        let ring = Ring(format: format, holding: .seconds(1), periodFrames: 100)
        let reader = RingReader(ring, from: 0)
        // The next write may overwrite the oldest period, so it does not count as intact.
        write(900, to: ring)
        guard case .frames = reader.read(atMost: 10, { content($0) }) else {
            Issue.record("whole frames were skipped")
            return
        }
        write(1500, to: ring)
        guard case .skipped(1890) = reader.read({ _ in Issue.record("read what is gone") }) else {
            Issue.record("it was not lapped")
            return
        }
        #expect(reader.position == 1900)
        guard case .frames(_, (1900, _, true)) = reader.read({ content($0) }) else {
            Issue.record("it did not go on")
            return
        }
    }

    @Test func `what was made of frames that were overwritten meanwhile is discarded`() {
        let ring = Ring(format: format, holding: .seconds(1), periodFrames: 100)
        write(500, to: ring)
        let reader = RingReader(ring, from: 0)
        let reading = reader.read { bytes in
            write(1000, to: ring)
            return content(bytes)
        }
        guard case .skipped(1000) = reading else {
            Issue.record("a result of overwritten frames was returned: \(reading)")
            return
        }
        // One more period than was written may be in progress. After 400 more frames the first frame is intact, after
        // 401 it is not.
        let young = RingReader(ring, from: ring.position - 500)
        guard case .frames(500, _) = young.read({ _ in write(400, to: ring) }) else {
            Issue.record("whole frames were discarded")
            return
        }
        let unlucky = RingReader(ring, from: ring.position - 500)
        guard case .skipped = unlucky.read({ _ in write(401, to: ring) }) else {
            Issue.record("frames that may be overwritten were taken")
            return
        }
    }

    @Test func `frames that are held are not overwritten, and those that are read are free`() {
        let ring = Ring(format: format, holding: .seconds(1), periodFrames: 100)
        write(500, to: ring)
        let reader = RingReader(holding: ring, from: 400)
        #expect(reader.position == 400)
        while ring.writableFrames() > 0 { write(ring.writableFrames(), to: ring) }
        #expect(ring.position == 1400)
        guard case .frames(250, (400, 250, true)) = reader.read(atMost: 250, { content($0) }) else {
            Issue.record("other frames were read")
            return
        }
        #expect(ring.writableFrames() == 100)
        struct Refusal: Error {}
        #expect(throws: Refusal.self) { try reader.read { _ throws(Refusal) in throw Refusal() } }
        #expect(reader.position == 650)
        reader.release()
        write(3000, to: ring)
        #expect(ring.position == 4400)
    }

    @Test func `spare frames are given up, the oldest first, before a new frame is dropped, and no other that is held`()
    {
        let ring = Ring(format: format, holding: .seconds(1), periodFrames: 100)
        write(500, to: ring)
        let reader = RingReader(holding: ring, from: 100, sparingBefore: 400)
        while ring.position < 1300 { write(100, to: ring) }
        guard case .skipped(200) = reader.read({ _ in Issue.record("read what is gone") }),
            case .frames(50, (300, 50, true)) = reader.read(atMost: 50, { content($0) })
        else {
            Issue.record("others were given up than the oldest")
            return
        }
        #expect(reader.passGivenUp() == 0)
        while ring.writableFrames() > 0 { write(ring.writableFrames(), to: ring) }
        #expect(ring.position == 1400)
        #expect(reader.passGivenUp() == 50 && reader.position == 400)
        guard case .frames(600, (400, 600, true)) = reader.read({ content($0) }) else {
            Issue.record("a frame was given up that is not spare")
            return
        }
    }

    @Test func `spare frames may be given up while what is made of them takes long`() {
        let ring = Ring(format: format, holding: .seconds(1), periodFrames: 100)
        write(500, to: ring)
        let reader = RingReader(holding: ring, from: 0, sparingBefore: 400)
        let reading = reader.read(atMost: 250) { bytes in
            while ring.writableFrames() > 0 { write(ring.writableFrames(), to: ring) }
            return content(bytes)
        }
        guard case .frames(250, (0, 250, true)) = reading, case .skipped(150) = reader.read({ content($0) }) else {
            Issue.record("other frames were read: \(reading)")
            return
        }
        #expect(ring.position == 1400)
    }

    @Test func `the reader that comes after one that spares frames spares none`() {
        let ring = Ring(format: format, holding: .seconds(1), periodFrames: 100)
        RingReader(holding: ring, from: 0, sparingBefore: 900).release()
        let reader = RingReader(holding: ring, from: 0)
        while ring.writableFrames() > 0 { write(ring.writableFrames(), to: ring) }
        #expect(ring.position == 1000 && reader.passGivenUp() == 0)
    }

    @Test func `a reader that was released leaves alone what the next one holds`() {
        let ring = Ring(format: format, holding: .seconds(1), periodFrames: 100)
        var first: RingReader? = RingReader(holding: ring, from: 0)
        first?.release()
        let second = RingReader(holding: ring, from: 0)
        first = nil
        while ring.writableFrames() > 0 { write(ring.writableFrames(), to: ring) }
        #expect(ring.position == 1000 && second.position == 0 && first == nil)
    }
}

/// The capture thread overwrites frames while readers read them. Their result is then discarded, by design.
struct LappedReadersTests {
    private final class Tally: Sendable {
        let read = Atomic<Int64>(0)
        let skipped = Atomic<Int64>(0)
        let wrong = Atomic<Int64>(0)
    }

    @Test func `one that spares frames reads them whole, or not at all`() throws {
        let ring = Ring(format: format, holding: .milliseconds(1024), periodFrames: 64)
        let total: Int64 = 300_000
        let holding = RingReader(holding: ring, from: 0, sparingBefore: RingPosition(total))
        let writer = try Thread(name: "test-writer") {
            while ring.position < RingPosition(total) {
                let before = ring.position
                write(min(64, total - before.count), to: ring)
                // There is always room.
                if ring.position == before { return }
            }
        }
        var (read, skipped, wrong) = (Int64(0), Int64(0), 0)
        var random = SeededRandom(seed: 1)
        while holding.position < RingPosition(total), wrong == 0 {
            let before = holding.position
            switch holding.read(atMost: Int64(1 + random.below(400)), { content($0) }) {
            case .nothing: sched_yield()
            case .skipped(let frames): skipped += frames
            case .frames(let frames, let content):
                read += frames
                if !content.isWhole || Int64(content.first) != before.count || content.count != Int(frames) {
                    wrong += 1
                }
            }
            for _ in 0..<random.below(20) { sched_yield() }
        }
        writer.join()
        #expect(wrong == 0 && read + skipped == total)
    }

    @Test func `one that holds and three that follow at different speeds mix up nothing`() throws {
        let ring = Ring(format: format, holding: .milliseconds(1024), periodFrames: 64)
        let total: Int64 = 300_000
        let holding = RingReader(holding: ring, from: 0)
        let followers = (0..<3).map { _ in RingReader(ring, from: 0) }
        let tallies = (0..<3).map { _ in Tally() }
        var threads: [Thread] = []
        for (number, tally) in tallies.enumerated() {
            nonisolated(unsafe) let reader = followers[number]
            threads.append(
                try Thread(name: "test-reader") {
                    var random = SeededRandom(seed: UInt64(number))
                    while reader.position < RingPosition(total) {
                        let before = reader.position
                        switch reader.read(atMost: Int64(1 + random.below(400)), { content($0) }) {
                        case .nothing: sched_yield()
                        case .skipped(let frames):
                            tally.skipped.add(frames, ordering: .relaxed)
                            if reader.position != before + frames { tally.wrong.add(1, ordering: .relaxed) }
                        case .frames(let frames, let content):
                            tally.read.add(frames, ordering: .relaxed)
                            let isRight =
                                content.isWhole && Int64(content.first) == before.count
                                && content.count == Int(frames) && reader.position == before + frames
                            if !isRight { tally.wrong.add(1, ordering: .relaxed) }
                        }
                        // The first reader is as fast as possible, the others wait sometimes.
                        for _ in 0..<random.below(1 + 8 * number) { sched_yield() }
                    }
                })
        }
        let writer = try Thread(name: "test-writer") {
            while ring.position < RingPosition(total) {
                write(min(64, total - ring.position.count), to: ring)
            }
        }
        var wrong = 0
        while holding.position < RingPosition(total) {
            let before = holding.position
            switch holding.read(atMost: 50, { content($0) }) {
            case .nothing: sched_yield()
            case .skipped: wrong += 1
            case .frames(_, let content):
                if !content.isWhole || Int64(content.first) != before.count { wrong += 1 }
            }
        }
        // From now on no frame is held, so that every reader reaches the end.
        holding.release()
        writer.join()
        for thread in threads { thread.join() }
        #expect(wrong == 0)
        for tally in tallies {
            #expect(tally.wrong.load(ordering: .relaxed) == 0)
            let sum = tally.read.load(ordering: .relaxed) + tally.skipped.load(ordering: .relaxed)
            #expect(sum == total)
        }
    }
}
