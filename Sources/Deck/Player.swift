import Filters
package import Ring
import Synchronization
import TakeFiles
package import Takes

/// Plays takes as the deck orders, one at a time. All of its work is done by `turn`, on one thread.
package final class Player: @unchecked Sendable {
    package let orders = Mailbox<PlayOrder>()
    package let outcomes = Mailbox<PlayOutcome>()
    private let sink: any PlaybackSink
    private let clock: any Clock
    private let shared = Mutex<PlayProgress?>(nil)

    // Of the player's own thread.
    private var playback: Playback?
    /// Whether `quit` was ordered.
    private(set) var hasQuit = false

    package init(sink: any PlaybackSink, clock: any Clock) {
        self.sink = sink
        self.clock = clock
    }

    /// Where the playing is; nil: nothing plays.
    var progress: PlayProgress? { shared.withLock { $0 } }

    /// Does what is ordered and what is due.
    /// - Returns: when it wants to be called again at the latest; nil: at the next order.
    package func turn(now: Instant) -> Instant? {
        for order in orders.take() { carryOut(order, now: now) }
        guard let playback else { return nil }
        do {
            let next = try playback.pump(now: now)
            try publish(playback)
            if playback.isEnded { end(failure: nil) }
            return next
        } catch {
            playback.close()
            end(failure: PlayFailure(message: Self.sentence(error), isCardInUse: false))
            return nil
        }
    }

    private func carryOut(_ order: PlayOrder, now: Instant) {
        switch order {
        case .begin(let begin): self.begin(begin, now: now)
        case .pause: change { try $0.pause() }
        case .resume: change { try $0.resume(now: now) }
        case .skip(let seconds): change { try $0.skip(bySeconds: seconds, now: now) }
        case .volume(let volume): change { try $0.setVolume(volume) }
        case .stop:
            do {
                try playback?.stop()
            } catch {
                playback?.close()
            }
        case .quit:
            playback?.close()
            hasQuit = true
        }
    }

    private func begin(_ begin: PlayBegin, now: Instant) {
        precondition(playback == nil, "one take at a time")
        do throws(PlaybackError) {
            let audio = try PlaybackError.catching { try TakeAudio(of: begin.take, in: begin.directory) }
            let playback = try Playback(audio, sink: sink, volume: begin.volume, now: now) { format in
                PlaybackRequest(card: begin.card, companion: begin.companion, format: format)
            }
            self.playback = playback
            let seconds = playback.lengths.seconds(at: playback.lengths.end)
            outcomes.post(
                .began(
                    PlayFacts(
                        frames: playback.lengths.frames, seconds: seconds,
                        summary: "\(playback.card): \(playback.cardFormat.summary)")))
        } catch {
            sink.close()
            let isCardInUse =
                switch error {
                case .cardInUse: true
                case .card, .take: false
                }
            end(failure: PlayFailure(message: error.description, isCardInUse: isCardInUse))
        }
    }

    private func change(_ body: (Playback) throws -> Void) {
        guard let playback else { return }
        do {
            try body(playback)
            try publish(playback)
            outcomes.post(.done)
        } catch {
            playback.close()
            end(failure: PlayFailure(message: Self.sentence(error), isCardInUse: false))
        }
    }

    private func publish(_ playback: Playback) throws {
        guard !playback.isEnded else { return }
        let lengths = playback.lengths
        let seconds = lengths.seconds(at: try playback.position())
        let progress = PlayProgress(
            seconds: seconds, at: clock.now(), isMoving: !playback.isPaused, total: lengths.seconds(at: lengths.end))
        shared.withLock { $0 = progress }
    }

    private func end(failure: PlayFailure?) {
        playback = nil
        shared.withLock { $0 = nil }
        outcomes.post(.ended(at: clock.now(), failure: failure))
    }

    private static func sentence(_ error: any Error) -> String {
        let text = "\(error)"
        return text.hasPrefix("play: ") ? text : "play: \(text)"
    }
}

/// Runs a player on a thread of its own.
final class PlayerThread {
    private let player: Player
    private let thread: Thread

    init(_ player: Player, clock: any Clock) throws(ThreadError) {
        self.player = player
        thread = try Thread(name: "player") {
            Denormals.flushToZero()
            while !player.hasQuit {
                let next = player.turn(now: clock.now())
                if player.hasQuit { break }
                player.orders.wait(nanoseconds: next.map { ($0 - clock.now()).nanoseconds })
            }
        }
    }

    deinit {
        player.orders.post(.quit)
        thread.join()
    }
}
