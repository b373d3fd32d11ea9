import Glibc
import Panel
import Recording
import ScriptedPlayback
import TakeFiles
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

@Suite struct ThreadsTests {
    /// Waits for a report of the writer or the player, without a limit or for a while.
    private func wait(for deck: Deck, milliseconds: Int32 = -1) {
        var descriptors = deck.fileDescriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = poll(&descriptors, nfds_t(descriptors.count), milliseconds)
        deck.ready(now: SystemClock().now())
    }

    @Test func `with writer, syncs and player on threads of their own the deck makes the same take, and plays it`()
        throws
    {
        let folder = TestFolder()
        let directory = folder.path + "/takes"
        let clock = TestClock()
        let format = StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16)
        let card = ScriptedCard(clock: clock, format: format, periodFrames: 800)
        var options = DeckOptions(kit: "heron07", directory: directory, version: "test")
        options.filter = FilterRequest(lowPass: .off)
        options.reserveBytes = 0
        let deck = try Deck(
            options: options, card: card, sink: ScriptedSink(clock: clock), clock: clock, originOfClock: { _ in .ntp },
            report: { _ in })
        _ = deck.turn(now: clock.now())
        while !deck.isRead { wait(for: deck) }
        clock.advance(by: .milliseconds(1000))
        card.deliver()
        deck.handle(.press(.record, at: clock.now()))
        while deck.status.take == nil { wait(for: deck) }
        clock.advance(by: .milliseconds(1000))
        card.deliver()
        while deck.progress?.lastSync == nil { wait(for: deck) }
        let stop = clock.now()
        deck.handle(.press(.stop, at: stop))
        clock.advance(by: .milliseconds(200))
        card.deliver()
        while deck.state == .recording { wait(for: deck) }
        let take = try #require(deck.selection.takes.first)
        let sidecar = try deck.storage.directory!.sidecar(of: take)
        #expect(sidecar.frames == format.frames(in: stop - Instant(nanoseconds: 101_000_000_000)))
        #expect(sidecar.endedBy == .stop)
        var reader = try SoundFileReader(path: "\(directory)/\(take.day)/\(sidecar.parts[0].file)")
        var samples = [Int32](repeating: 0, count: Int(sidecar.frames))
        var span = samples.mutableSpan
        let count = try reader.read(into: &span)
        #expect(difference(samples[..<count].map { Int16($0 >> 16) }, 8000..<8000 + Int(sidecar.frames)) == nil)
        deck.handle(.press(.play, at: clock.now()))
        while !deck.hasBegunPlaying { wait(for: deck) }
        deck.handle(.press(.play, at: clock.now()))
        #expect(deck.state == .paused)
        deck.handle(.press(.stop, at: clock.now()))
        while deck.isPlaying {
            clock.advance(by: .milliseconds(5))
            wait(for: deck, milliseconds: 1)
        }
    }
}

extension Deck {
    /// Whether card and storage have answered.
    fileprivate var isRead: Bool { card.open != nil && storage.freeBytes != nil }

    /// Whether the played take is open.
    fileprivate var hasBegunPlaying: Bool {
        if case .playing(let playing) = transport.phase { playing.sound == .open } else { false }
    }
}
