import Filters
package import Ring
import TakeFiles
package import Takes
package import Workers

/// Plays one take at a time, as the deck orders. It is the state of a worker, and `turn` does all its work.
package final class Player {
    private let sink: any PlaybackSink
    private let clock: any Clock
    private let monitor: Monitor
    private var played: PlayedTake?

    package static func worker(sink: any PlaybackSink, clock: any Clock) -> Worker<PlayOrder, PlayOutcome> {
        let player = Player(sink: sink, clock: clock)
        return Worker(clock: clock) { orders, now, outcomes in player.turn(orders, now: now, outcomes) }
    }

    private init(sink: any PlaybackSink, clock: any Clock) {
        self.sink = sink
        self.clock = clock
        monitor = Monitor(sink: sink)
    }

    deinit {
        played?.close()
    }

    private func turn(_ orders: [PlayOrder], now: Instant, _ outcomes: Mailbox<PlayOutcome>) -> Instant? {
        for order in orders { carryOut(order, now: now, outcomes) }
        let next = pump(now: now, outcomes)
        return played == nil ? monitor.turn(now: now, outcomes) : next
    }

    private func pump(now: Instant, _ outcomes: Mailbox<PlayOutcome>) -> Instant? {
        guard let played else { return nil }
        do {
            let next = try played.pump(now: now)
            try report(played, outcomes)
            if played.isEnded { end(played, nil, outcomes) }
            return next
        } catch {
            end(played, Self.failure(error), outcomes)
            return nil
        }
    }

    private func carryOut(_ order: PlayOrder, now: Instant, _ outcomes: Mailbox<PlayOutcome>) {
        switch order {
        case .begin(let begin): self.begin(begin, now: now, outcomes)
        case .pause: change(outcomes) { try $0.pause() }
        case .resume: change(outcomes) { try $0.resume(now: now) }
        case .skip(let seconds): change(outcomes) { try $0.skip(bySeconds: seconds, now: now) }
        case .volume(let volume): change(outcomes) { try $0.setVolume(volume) }
        case .pitch(let cents):
            change(outcomes) { played in
                var tuning = played.tuning
                tuning.pitchCents = cents
                try played.tune(tuning, now: now)
            }
        case .speed(let speed, let expands):
            change(outcomes) { played in
                var tuning = played.tuning
                tuning.speed = speed
                tuning.expands = expands
                try played.tune(tuning, now: now)
            }
        case .stop:
            do {
                try played?.stop()
            } catch {
                played?.close()
            }
        case .monitor(let request): monitor.request = request
        }
    }

    private func begin(_ begin: PlayBegin, now: Instant, _ outcomes: Mailbox<PlayOutcome>) {
        precondition(played == nil, "player: one take at a time")
        monitor.close()
        do throws(PlaybackError) {
            let audio = try PlaybackError.catching { try TakeAudio(of: begin.take, in: begin.directory) }
            let played = try PlayedTake(
                audio, sink: sink, volume: begin.volume, tuning: begin.tuning, now: now
            ) { format in
                PlaybackRequest(card: begin.card, companion: begin.companion, format: format)
            }
            self.played = played
            outcomes.post(
                .began(
                    PlayFacts(
                        frames: played.lengths.frames, seconds: played.lengths.seconds,
                        summary: "\(played.card): \(played.cardFormat.summary)")))
        } catch {
            sink.close()
            let isCardInUse =
                switch error {
                case .cardInUse: true
                case .card, .take: false
                }
            let failure = PlayFailure(message: error.description, isCardInUse: isCardInUse)
            outcomes.post(.ended(at: clock.now(), position: 0, failure: failure))
        }
    }

    private func change(_ outcomes: Mailbox<PlayOutcome>, _ body: (PlayedTake) throws -> Void) {
        guard let played else { return }
        do {
            try body(played)
            try report(played, outcomes)
            outcomes.post(.done)
        } catch {
            end(played, Self.failure(error), outcomes)
        }
    }

    private func report(_ played: PlayedTake, _ outcomes: Mailbox<PlayOutcome>) throws {
        guard !played.isEnded else { return }
        outcomes.postQuietly(.progress(try played.progress(now: clock.now())))
    }

    private func end(_ played: PlayedTake, _ failure: PlayFailure?, _ outcomes: Mailbox<PlayOutcome>) {
        played.close()
        self.played = nil
        outcomes.post(.ended(at: clock.now(), position: played.endSeconds, failure: failure))
    }

    private static func failure(_ error: any Error) -> PlayFailure {
        let text = "\(error)"
        return PlayFailure(message: text.hasPrefix("play: ") ? text : "play: \(text)", isCardInUse: false)
    }
}
