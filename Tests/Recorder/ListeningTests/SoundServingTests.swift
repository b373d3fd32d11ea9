import Glibc
import Live
import Ring
import Sockets
import Takes
import Testing

@testable import Listening

/// Programs that get the card's own samples with their positions.
struct SoundServingTests {
    /// A message as a program reads it. The header gives the length of the payload.
    private struct Message: Equatable {
        var kind: SoundMessage.Kind
        var frames: Int64
        var first: Int64
        var raw: UInt64
        var payload: [UInt8]

        var text: String { String(decoding: payload, as: UTF8.self) }
        /// The frame numbers, from the first channel.
        func samples(channels: Int = 2) -> [Int16] {
            stride(from: 0, to: payload.count, by: 2 * channels).map {
                Int16(bitPattern: UInt16(payload[$0]) | UInt16(payload[$0 + 1]) << 8)
            }
        }
    }

    private func messages(_ bytes: [UInt8], bytesPerFrame: Int = 4) throws -> [Message] {
        var found: [Message] = []
        var rest = bytes[...]
        func number(_ offset: Int, _ count: Int) -> UInt64 {
            rest.dropFirst(offset).prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        while !rest.isEmpty {
            try #require(rest.count >= 28 && rest.starts(with: Array("FFS1".utf8)))
            let kind = try #require(SoundMessage.Kind(rawValue: UInt16(number(4, 2))))
            let frames = Int64(number(8, 4))
            let size: Int
            switch kind {
            case .sound: size = Int(frames) * bytesPerFrame
            case .skipped: size = 0
            case .format, .takeBegins, .takeEnds: size = Int(frames)
            }
            let (first, raw) = (Int64(number(12, 8)), number(20, 8))
            rest = rest.dropFirst(28)
            try #require(rest.count >= size)
            found.append(Message(kind: kind, frames: frames, first: first, raw: raw, payload: Array(rest.prefix(size))))
            rest = rest.dropFirst(size)
        }
        return found
    }

    /// Expects that received and skipped frames follow each other without an overlap or a hole.
    /// - Returns: the next frame, and the number of skipped frames.
    @discardableResult
    private func follow(_ messages: [Message]) -> (next: Int64, skipped: Int64) {
        var (next, skipped): (Int64?, Int64) = (nil, 0)
        for message in messages where message.kind == .sound || message.kind == .skipped {
            if let next { #expect(message.first == next) }
            next = message.first + message.frames
            if message.kind == .skipped { skipped += message.frames }
        }
        return (next ?? 0, skipped)
    }

    private func stamp(_ ring: Ring?, at position: Int64, raw: Int64) {
        ring?.stamp(
            Stamp(position: RingPosition(position), instant: Instant(nanoseconds: raw - 5), rawNanoseconds: raw))
    }

    @Test func `a reader gets the format, then each frame with its number and its time`() throws {
        let rig = try ListenRig()
        rig.open()
        stamp(rig.ring, at: 0, raw: 7_000_000_000)
        rig.deliver(100)
        let reader = rig.soundPeer()
        rig.deliver(50)
        rig.turn()
        rig.deliver(30)
        rig.turn()
        let found = try messages(reader.receive())
        #expect(found.map(\.kind) == [.format, .sound, .sound])
        #expect(
            found[0].text
                == #"{"bytes_per_frame":4,"channels":2,"format":"S16_LE","rate_hz":8000,"significant_bits":16}"#)
        #expect(found[0].first == 100)
        #expect(found[1].samples() == Array(100..<150) && found[1].first == 100)
        // 100 frames of 125 µs.
        #expect(found[1].raw == 7_012_500_000)
        #expect(found[2].samples() == Array(150..<180) && found[2].first == 150)
    }

    @Test
    func `a reader that sleeps loses nothing while the ring holds it, and then learns what it missed, to the frame`()
        throws
    {
        let rig = try ListenRig()
        rig.open()
        let (sleeper, quick) = (rig.soundPeer(), rig.soundPeer())
        var mostWaiting = 0
        for _ in 0..<1500 {
            rig.deliver(400)
            rig.turn()
            quick.receive()
            mostWaiting = max(mostWaiting, rig.sound.peers.map(\.waitingBytes).max() ?? 0)
        }
        #expect(mostWaiting < 66_000)
        let all = try messages(quick.bytes)
        let (end, none) = follow(all)
        #expect(none == 0 && end == 600_000)
        #expect(
            all.filter { $0.kind == .sound }.flatMap { $0.samples() }
                == (0..<600_000).map { Int16(truncatingIfNeeded: $0) })
        // The sleeper reads again.
        for _ in 0..<200 {
            sleeper.receive()
            rig.turn()
        }
        let found = try messages(sleeper.receive())
        let (next, skipped) = follow(found)
        #expect(next == 600_000 && skipped > 400_000)
        #expect(found.filter { $0.kind == .sound }.reduce(0) { $0 + $1.frames } + skipped == 600_000)
        for message in found where message.kind == .sound {
            #expect(message.samples().first == Int16(truncatingIfNeeded: message.first))
        }
    }

    @Test
    func
        `what the card delivered while its sound was withheld is skipped, to the frame, and a new ring goes on counting`()
        throws
    {
        let rig = try ListenRig()
        rig.open()
        let reader = rig.soundPeer()
        rig.deliver(10)
        rig.turn()
        let ring = rig.ring
        rig.deliver(5)
        rig.close()
        rig.turn()
        #expect(!rig.sound.isReading)
        rig.open(in: ring)
        rig.deliver(20)
        rig.turn()
        rig.deliver(7)
        rig.turn()
        var found = try messages(reader.receive())
        #expect(found.map(\.kind) == [.format, .sound, .skipped, .sound])
        #expect(found.map(\.first) == [0, 0, 10, 35] && found[2].frames == 25 && found[3].frames == 7)
        rig.open(rateHz: 16_000)
        rig.turn()
        rig.deliver(3)
        rig.turn()
        found = try messages(reader.receive())
        #expect(found.suffix(2).map(\.kind) == [.format, .sound] && found.last?.first == 42)
        follow(found)
    }

    @Test func `a reader that comes while the sound is withheld gets the format when it returns`() throws {
        let rig = try ListenRig()
        rig.open()
        rig.turn()
        let ring = rig.ring
        rig.close()
        rig.turn()
        let reader = rig.soundPeer()
        rig.open(in: ring)
        rig.turn()
        rig.deliver(10)
        rig.turn()
        let found = try messages(reader.receive())
        #expect(found.map(\.kind) == [.format, .sound] && found.map(\.first) == [0, 0])
    }

    @Test func `a ring that is closed is not held`() throws {
        let rig = try ListenRig()
        rig.open()
        _ = rig.soundPeer()
        weak let ring = rig.ring
        rig.turn()
        rig.close()
        rig.turn()
        #expect(ring == nil)
    }

    @Test
    func
        `however often a take's places change while a reader sleeps, it learns the format before what is counted by it`()
        throws
    {
        let rig = try ListenRig()
        let reader = rig.soundPeer()
        rig.open()
        for frame in 0..<300 {
            rig.note(
                LiveTake(
                    stem: "heron07-0042-061811Z", rateHz: 8000, position: RingPosition(Int64(frame)),
                    frame: TakeFrame(Int64(frame))))
        }
        // A turn sends no more messages than may wait.
        for _ in 0..<2 { rig.turn() }
        let found = try messages(reader.receive())
        #expect(found.first?.kind == .format && found.filter { $0.kind == .takeBegins }.count == SoundPeer.mostNews)
    }

    @Test func `a reader learns which frames a take has, also one that comes later, and where it ended`() throws {
        let rig = try ListenRig()
        rig.open()
        let reader = rig.soundPeer()
        rig.deliver(200)
        var take = LiveTake(stem: "heron07-0042-061811Z", rateHz: 8000, position: 120, frame: .first)
        rig.note(take)
        rig.turn()
        let late = rig.soundPeer()
        (take.position, take.frame, take.isOver) = (190, TakeFrame(70), true)
        rig.note(take)
        rig.turn()
        let last = rig.soundPeer()
        let found = try messages(reader.receive()).filter { $0.kind == .takeBegins || $0.kind == .takeEnds }
        #expect(found.map(\.kind) == [.takeBegins, .takeEnds] && found.map(\.first) == [120, 190])
        #expect(found[0].text == #"{"at_frame":0,"rate_hz":8000,"take":"heron07-0042-061811Z"}"#)
        #expect(found[1].text == #"{"at_frame":70,"rate_hz":8000,"take":"heron07-0042-061811Z"}"#)
        #expect(try messages(late.receive()).map(\.kind) == [.format, .takeBegins, .takeEnds])
        #expect(try messages(last.receive()).map(\.kind) == [.format])
    }

    /// Sends bytes of a reader, and has the loop receive and answer them.
    private func send(_ text: String, _ reader: ListenRig.Listener, _ rig: ListenRig) {
        reader.send(text)
        rig.loop.wait()
        rig.turn()
    }

    /// Turns the loop until a reader has received everything.
    private func receiveAll(_ reader: ListenRig.Listener, _ rig: ListenRig) throws -> [Message] {
        for _ in 0..<20 {
            rig.turn()
            reader.receive()
        }
        return try messages(reader.receive())
    }

    @Test(arguments: [["past\n"], ["pa", "st", "\n"], ["past\npast\nmono\n"]])
    func `a reader that asks for the past gets it after another format message, and disturbs no other`(
        _ pieces: [String]
    ) throws {
        let rig = try ListenRig()
        rig.open()
        rig.turn()
        rig.deliver(40_000)
        let (reader, other) = (rig.soundPeer(), rig.soundPeer())
        rig.deliver(100)
        rig.turn()
        for piece in pieces { send(piece, reader, rig) }
        rig.deliver(50)
        let found = try receiveAll(reader, rig)
        // The ring has 32 000 frames. 800 may be overwritten at any time, and 8000 within a second: the oldest is
        // 40 100 + 800 + 8000 − 32 000.
        let oldest = Int64(16_900)
        #expect(found.prefix(3).map(\.kind) == [.format, .sound, .format])
        #expect(found.prefix(3).map(\.first) == [40_000, 40_000, oldest] && found[1].frames == 100)
        #expect(found[0].payload == found[2].payload)
        let past = found.dropFirst(3)
        #expect(past.first?.first == oldest && past.allSatisfy { $0.kind == .sound })
        #expect(follow(Array(past)).next == 40_150)
        #expect(past.flatMap { $0.samples() } == (oldest..<40_150).map { Int16(truncatingIfNeeded: $0) })
        let undisturbed = try receiveAll(other, rig)
        #expect(undisturbed.map(\.kind) == [.format, .sound, .sound])
        #expect(undisturbed.map(\.first) == [40_000, 40_000, 40_100])
    }

    @Test(arguments: [
        "past", "PAST\n", "past \n", "\n", "mono\npast\n", String(repeating: "past", count: 10_000),
        String(repeating: "\0", count: 50_000),
    ])
    func `a reader that sends anything else is served as one that sends nothing`(_ text: String) throws {
        let rig = try ListenRig()
        rig.open()
        rig.turn()
        rig.deliver(1000)
        let reader = rig.soundPeer()
        send(text, reader, rig)
        // It is not read again, also after it has finished sending.
        reader.finishSending()
        for _ in 0..<3 { rig.loop.wait() }
        #expect(rig.sound.peers.allSatisfy { !$0.mayAsk })
        rig.deliver(10)
        let found = try receiveAll(reader, rig)
        #expect(found.map(\.kind) == [.format, .sound] && found.map(\.first) == [1000, 1000])
        #expect(!reader.isOver)
    }

    @Test func `what was withheld, and what came before, is in no past`() throws {
        let rig = try ListenRig()
        rig.open()
        rig.turn()
        rig.deliver(1000)
        rig.turn()
        let ring = rig.ring
        rig.close()
        rig.turn()
        // While no card is open there is no past.
        let early = rig.soundPeer()
        send("past\n", early, rig)
        rig.open(in: ring)
        rig.deliver(20)
        rig.turn()
        rig.deliver(30)
        let late = rig.soundPeer()
        send("past\n", late, rig)
        rig.deliver(5)
        var found = try receiveAll(late, rig)
        #expect(found.map(\.kind) == [.format, .format, .sound, .sound])
        #expect(found.map(\.first) == [1050, 1020, 1020, 1050])
        found = try receiveAll(early, rig)
        #expect(found.map(\.kind) == [.format, .sound, .sound] && found.map(\.first) == [1020, 1020, 1050])
    }

    @Test func `after the past was asked for, the take in progress is announced again, and no other`() throws {
        let rig = try ListenRig()
        rig.open()
        rig.turn()
        let reader = rig.soundPeer()
        rig.deliver(500)
        var take = LiveTake(stem: "heron07-0041-061811Z", rateHz: 8000, position: 100, frame: .first)
        rig.note(take)
        (take.position, take.frame, take.isOver) = (200, TakeFrame(100), true)
        rig.note(take)
        take = LiveTake(stem: "heron07-0042-061811Z", rateHz: 8000, position: 300, frame: .first)
        rig.note(take)
        rig.turn()
        let before = try receiveAll(reader, rig)
        #expect(before.map(\.kind) == [.format, .takeBegins, .takeEnds, .takeBegins, .sound])
        send("past\n", reader, rig)
        let found = try receiveAll(reader, rig).dropFirst(before.count)
        #expect(found.map(\.kind) == [.format, .takeBegins, .sound] && found.map(\.first) == [0, 300, 0])
        #expect(found.dropFirst().first == before[3])
    }

    @Test func `more readers than there is room for are turned away, and one that leaves makes room`() throws {
        let rig = try ListenRig()
        rig.open()
        let readers = (0..<SoundServing.mostPeers).map { _ in rig.soundPeer() }
        let refused = rig.soundPeer()
        refused.receive()
        #expect(refused.isOver && rig.sound.peers.count == 8)
        shutdown(readers[0].socket.number, Int32(SHUT_RDWR))
        rig.loop.wait()
        rig.turn()
        #expect(rig.sound.peers.count == 7)
        for reader in readers.dropFirst() {
            reader.receive()
            #expect(!reader.isOver)
        }
        // The missed frames exceed the range of one message.
        let (message, rest) = SoundMessage.skipped(5..<1 << 33, channels: 1)
        #expect(try messages(message).map(\.frames) == [4_294_967_295] && rest == 4_294_967_300..<1 << 33)
    }
}
