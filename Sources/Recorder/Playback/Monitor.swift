import Live
import Ring
import Takes
import Workers

/// Plays the sound of the capture card while no take is played. It belongs to the player, so that only one thread uses
/// the card.
final class Monitor {
    /// The sound to monitor, or nil for none.
    var request: MonitorRequest? {
        didSet { requestChanged(from: oldValue) }
    }
    private let sink: any PlaybackSink
    private var state = State.closed

    private enum State {
        case closed
        case playing(MonitoredSound)
        /// The card failed. The next attempt is at `until`.
        case failed(message: String, until: Instant)
    }

    /// The delay between a failure and the next attempt.
    static let retry = Duration.seconds(3)

    init(sink: any PlaybackSink) {
        self.sink = sink
    }

    /// Closes the card so that a take can be played on it.
    func close() {
        switch state {
        case .playing:
            sink.close()
            state = .closed
        case .closed, .failed: break
        }
    }

    private func requestChanged(from old: MonitorRequest?) {
        guard let request else {
            close()
            return state = .closed
        }
        guard case .playing(let sound) = state else { return }
        if let old, old.source.ring === request.source.ring, old.card == request.card,
            old.companion == request.companion
        {
            sound.change(to: request)
        } else {
            close()
        }
    }

    /// Plays the sampled frames.
    /// - Returns: the time of the next call, or nil without a request.
    func turn(now: Instant, _ outcomes: Mailbox<PlayOutcome>) -> Instant? {
        guard let request else { return nil }
        do {
            switch state {
            case .closed: try open(request, now: now, outcomes)
            case .failed(_, let until):
                guard now >= until else { return until }
                try open(request, now: now, outcomes)
            case .playing(let sound): try sound.pump(now: now)
            }
            return now + MonitoredSound.interval
        } catch {
            return fail("\(error)", now: now, outcomes)
        }
    }

    private func open(_ request: MonitorRequest, now: Instant, _ outcomes: Mailbox<PlayOutcome>) throws {
        let grant = try sink.open(
            PlaybackRequest(
                card: request.card, companion: request.companion, format: request.source.ring.format,
                latency: MonitoredSound.buffer))
        state = .playing(try MonitoredSound(request, sink, grant, now: now))
        outcomes.post(.monitor(.began("\(grant.card): \(grant.format.summary)")))
    }

    private func fail(_ message: String, now: Instant, _ outcomes: Mailbox<PlayOutcome>) -> Instant {
        sink.close()
        let before: String? = if case .failed(let message, _) = state { message } else { nil }
        if message != before { outcomes.post(.monitor(.failed(message))) }
        state = .failed(message: message, until: now + Self.retry)
        return now + Self.retry
    }
}
