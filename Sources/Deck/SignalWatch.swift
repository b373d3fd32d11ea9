import Filters
import Ring
import Takes
import Transport

/// Listens to what the card says, recording or not, for what a technician should hear of: clipping and dead inputs.
struct SignalWatch {
    private var measured: Int64 = 0
    private var clippedAt: Instant?
    private var clippedChannels: Set<Int> = []
    private var silentSince: [Instant?]
    private var wasAlive: [Bool]

    /// A sample this small is no signal: below one step of 16 bits.
    static let deadBelowDBFS = -96.0
    static let deadAfter = Duration.seconds(10)
    static let clippedFor = Duration.seconds(5)

    init(channels: Int) {
        silentSince = Array(repeating: nil, count: channels)
        wasAlive = Array(repeating: false, count: channels)
    }

    /// Listens to what came since the last call.
    mutating func listen(to ring: Ring, now: Instant) {
        let position = ring.position
        let limit = ring.capacityFrames / 2
        var first = max(measured, position - limit)
        while first < position {
            // Safe: what is looked at is younger than half the ring.
            let levels = unsafe ring.withFrames(from: first, atMost: position - first) { bytes in
                first += Int64(bytes.count / ring.format.bytesPerFrame)
                return unsafe Meter.measure(bytes, format: ring.format)
            }
            hear(levels, now: now)
        }
        measured = position
    }

    /// Leaves out what came before a position of the ring.
    mutating func passOver(upTo position: Int64) {
        measured = max(measured, position)
    }

    mutating func hear(_ levels: [ChannelLevels], now: Instant) {
        if let at = clippedAt, now - at >= Self.clippedFor {
            clippedAt = nil
            clippedChannels = []
        }
        for (channel, level) in levels.enumerated() {
            if level.clippedFrames > 0 {
                clippedAt = now
                clippedChannels.insert(channel + 1)
            }
            if level.peakDBFS ?? -.infinity < Self.deadBelowDBFS {
                silentSince[channel] = silentSince[channel] ?? now
            } else {
                silentSince[channel] = nil
                wasAlive[channel] = true
            }
        }
    }

    /// What is wrong with the signal; nil: nothing. A channel that never had a signal is told only when none has one,
    /// since many cards have an input that nothing is plugged into.
    func fault(now: Instant, card: String) -> Fault? {
        if let at = clippedAt, now - at < Self.clippedFor {
            let channels = clippedChannels.sorted().map(String.init).joined(separator: ", ")
            return Fault(.signal, "signal: \(card): clipped on channel \(channels): turn the gain down")
        }
        let dead = silentSince.indices.filter { channel in
            silentSince[channel].map { now - $0 >= Self.deadAfter } ?? false
        }
        let died = dead.filter { wasAlive[$0] }
        guard dead.count == silentSince.count || !died.isEmpty else { return nil }
        let channels = (dead.count == silentSince.count ? dead : died).map { String($0 + 1) }.joined(separator: ", ")
        return Fault(
            .signal,
            "signal: \(card): nothing heard on channel \(channels) for 10 s: check the microphone and its cable")
    }
}
