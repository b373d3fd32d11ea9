import Filters
import Takes
import Transport

/// Finds clipping and dead inputs in what the card delivers, whether it is recorded or not.
///
/// Pure: it is fed with what a `RunningMeter` drains. A stretch counts by its frames; of clipping alone the instant counts.
struct SignalWatch {
    private let format: StreamFormat
    /// The last stretches, the newest at the end: as few as have `deadAfter` together.
    private var window: [[ChannelSignal]] = []
    private var clipping: Clipping?
    private var pasts: [Past]

    /// Where and when a converter was last at its limit.
    private struct Clipping {
        var at: Instant
        var channels: Set<Int> = []
    }

    /// What is known of a channel since the card was opened.
    private enum Past {
        /// It had no signal, or not for long: a card may click when it is opened.
        case neverAlive(signalFrames: Int64)
        /// It had a signal.
        case alive
    }

    static let deadAfter = Duration.seconds(10)
    /// A channel that had a signal for so long has something plugged in.
    static let aliveAfter = Duration.seconds(4)
    static let clippedFor = Duration.seconds(5)

    init(format: StreamFormat) {
        self.format = format
        pasts = Array(repeating: .neverAlive(signalFrames: 0), count: format.channels)
    }

    /// Adds a stretch that follows the last one, a channel each.
    mutating func add(_ stretch: [ChannelSignal], now: Instant) {
        if let last = clipping, now - last.at >= Self.clippedFor { clipping = nil }
        for (channel, signal) in stretch.enumerated() where signal.frames > 0 {
            if signal.clippedFrames > 0 {
                var found = clipping ?? Clipping(at: now)
                found.at = now
                found.channels.insert(channel)
                clipping = found
            }
            pasts[channel] = past(pasts[channel], signal)
        }
        guard let frames = stretch.first?.frames, frames > 0 else { return }
        window.append(stretch)
        var surplus = windowFrames - format.frames(in: Self.deadAfter)
        while let oldest = window.first?.first, oldest.frames <= surplus {
            surplus -= oldest.frames
            window.removeFirst()
        }
    }

    /// What is wrong with the signal; nil: nothing. A channel that never had a signal is reported only when no channel has one,
    /// since many cards have an input with nothing plugged in.
    func fault(now: Instant, card: String) -> Fault? {
        if let clipping, now - clipping.at < Self.clippedFor {
            return Fault(
                .signal, "signal: \(card): clipped on channel \(list(clipping.channels.sorted())): turn the gain down")
        }
        guard windowFrames >= format.frames(in: Self.deadAfter) else { return nil }
        let dead = pasts.indices.filter { channel in
            var whole = ChannelSignal()
            for stretch in window { whole.add(stretch[channel]) }
            return whole.isDead(in: format)
        }
        let died = dead.filter { channel in
            switch pasts[channel] {
            case .alive: true
            case .neverAlive: false
            }
        }
        let reported = dead.count == pasts.count ? dead : died
        guard !reported.isEmpty else { return nil }
        return Fault(
            .signal,
            "signal: \(card): no signal on channel \(list(reported)) for 10 s: check the microphone and its cable")
    }

    private var windowFrames: Int64 { window.reduce(0) { $0 + ($1.first?.frames ?? 0) } }

    private func past(_ past: Past, _ signal: ChannelSignal) -> Past {
        switch past {
        case .alive: return .alive
        case .neverAlive(let frames):
            guard !signal.isDead(in: format) else { return .neverAlive(signalFrames: 0) }
            let frames = frames + signal.frames
            return frames >= format.frames(in: Self.aliveAfter) ? .alive : .neverAlive(signalFrames: frames)
        }
    }

    private func list(_ channels: [Int]) -> String {
        channels.map { String($0 + 1) }.joined(separator: ", ")
    }
}
