public import Live
import Playback
import Takes
import Transport
import Workers

// The sound of the open card, for who listens while it is sampled.
extension Deck {
    /// What the card delivers, and the filter that is in force; nil: no card is open, or the kit plays a take, which the card may
    /// be capturing.
    public var liveSource: LiveSource? {
        guard let open = card.open, let input, !isPlaying else { return nil }
        return LiveSource(ring: open.ring, design: input.design)
    }

    /// Orders the player to monitor what the settings ask for.
    func settleMonitor() {
        let wanted = monitorRequest
        guard wanted != monitored else { return }
        monitored = wanted
        workers.player.post(.monitor(wanted))
    }

    private var monitorRequest: MonitorRequest? {
        guard options.monitor.isWanted(isRecording: isRecording), let source = liveSource else { return nil }
        return MonitorRequest(
            source: source, card: options.playbackCard, companion: companionOfPlayback, volume: playing.volume)
    }

    func note(_ news: MonitorReport) {
        switch news {
        case .began(let summary): report(Report(.info, "monitor: \(summary)"))
        case .failed(let message): report(Report(.warning, "monitor: \(message)"))
        }
    }
}
