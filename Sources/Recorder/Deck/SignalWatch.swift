import Filters
import Takes
import Transport

/// Detects clipping, dead inputs and falls in the card's sound, recorded or not.
///
/// Pure: it gets the results that a `RunningMeter` drains. Time is counted in frames of the stretches. Only clipping
/// uses the clock.
struct SignalWatch {
    private let format: StreamFormat
    /// The number of each channel on the card, for the messages.
    private let numbers: [Int]
    /// The last stretches, the newest at the end: as few as cover `deadAfter`.
    private var window: [[ChannelSignal]] = []
    private var clipping: Clipping?
    private var pasts: [Past]
    private var falls: [FallWatch]

    /// The channels that clipped, and the last time.
    private struct Clipping {
        var at: Instant
        var channels: Set<Int> = []
    }

    /// The history of a channel since the card was opened.
    private enum Past {
        /// It had no signal, or only briefly. A card may click when it is opened.
        case neverAlive(signalFrames: Int64)
        case alive
    }

    static let deadAfter = Duration.seconds(10)
    /// A channel that had a signal for this long has something plugged in.
    static let aliveAfter = Duration.seconds(4)
    static let clippedFor = Duration.seconds(5)

    /// - Parameter numbers: the numbers of the recorded channels on the card, or nil if all channels are recorded.
    init(format: StreamFormat, numbers: [Int]? = nil) {
        self.format = format
        self.numbers = numbers ?? Array(1...format.channels)
        pasts = Array(repeating: .neverAlive(signalFrames: 0), count: format.channels)
        falls = Array(repeating: FallWatch(), count: format.channels)
    }

    /// Adds the next stretch, one element per channel.
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

    /// Adds the next half seconds, oldest first, one element per channel.
    /// - Parameter now: the end of the last half second.
    /// - Returns: whether the level of a channel has begun to fall, which is not judged yet.
    mutating func add(halves: [[ChannelSignal]], now: Instant) -> Bool {
        let before = falls.map(\.isFalling)
        for (index, half) in halves.enumerated() {
            let began = now - .milliseconds(500 * (halves.count - index))
            for (channel, signal) in half.enumerated() {
                falls[channel].add(
                    FallWatch.Moment(
                        dBFS: signal.alternatingDBFS(in: format), hasSignal: !signal.isDead(in: format), at: began))
            }
        }
        return zip(falls, before).contains { $0.isFalling && !$1 }
    }

    /// The next half seconds do not follow the last ones.
    mutating func interruptLevels() {
        for channel in falls.indices { falls[channel].interrupt() }
    }

    /// The gain was changed, so levels before and after cannot be compared.
    mutating func forgetLevels() {
        falls = Array(repeating: FallWatch(), count: format.channels)
    }

    /// The faults of the signal, the longest lasting first: clipping often passes by itself.
    func faults(now: Instant, card: String, past: PastWords) -> [Fault] {
        let silent = silentChannels
        var found: [Fault] = []
        func add(_ trouble: Fault.SignalTrouble, _ channels: [Int], _ sentence: String) {
            found.append(Fault(.signal, "signal: \(card): \(sentence)", about: .channels(Set(channels), trouble)))
        }
        if !silent.isEmpty {
            let numbers = silent.map { self.numbers[$0] }
            add(.silent, numbers, "no signal on channel \(list(numbers)) for 10 s: check the microphone and its cable")
        }
        for fall in fallen(without: silent, past) { add(.fell, fall.channels, fall.complaint) }
        if let clipping, now - clipping.at < Self.clippedFor {
            let numbers = clipping.channels.sorted().map { self.numbers[$0] }
            add(.clipped, numbers, "clipped on channel \(list(numbers)): turn the gain down")
        }
        return found
    }

    /// Channels without a signal. A channel that never had a signal is reported only if no channel has one, because
    /// many cards have an input with nothing plugged in.
    private var silentChannels: [Int] {
        guard windowFrames >= format.frames(in: Self.deadAfter) else { return [] }
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
        return dead.count == pasts.count ? dead : died
    }

    /// The channels that fell. Channels that fell at the same time are combined, with the largest drop.
    private func fallen(without silent: [Int], _ past: PastWords) -> [SignalFall] {
        var found: [SignalFall] = []
        for (channel, watch) in falls.enumerated() where !silent.contains(channel) {
            guard let fall = watch.fall else { continue }
            let own = SignalFall(
                decibels: Int(fall.decibels.rounded()), when: past(fall.at), channels: [numbers[channel]])
            if let index = found.firstIndex(where: { $0.when == own.when }) {
                found[index].decibels = max(found[index].decibels, own.decibels)
                found[index].channels.append(numbers[channel])
            } else {
                found.append(own)
            }
        }
        return found
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

    private func list(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: ", ") }
}
