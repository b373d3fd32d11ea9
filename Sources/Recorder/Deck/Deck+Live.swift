public import Live
import Playback
import Takes
import Transport
import Workers

// The live sound of the open card.
extension Deck {
    /// The open card's sound, and the filter in force. Nil while no card is open, or while the kit plays a take,
    /// because the card may capture that.
    public var liveSource: LiveSource? {
        guard let open = card.open, let input, !isPlaying else { return nil }
        return LiveSource(ring: open.ring, design: input.design)
    }

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
