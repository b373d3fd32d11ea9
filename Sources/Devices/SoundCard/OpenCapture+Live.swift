import Ring
import Takes

extension OpenCapture {
    /// A channel without a signal for this long is left out.
    static let listening = Duration.seconds(1)

    /// Captures for `listening`. Afterwards the card is stopped, and can be started again.
    /// - Parameter meter: makes the meter that judges the channels.
    /// - Returns: the channels that had a signal, or nil if none had one or the card delivered too little.
    func liveChannels(
        by meter: (StreamFormat) -> any ChannelMeter
    ) throws(SoundCardError) -> [Int]? {
        let format = grant.format
        let ring = Ring(format: format, holding: .seconds(1), periodFrames: grant.periodFrames)
        let loop = try begin(into: ring)
        defer { halt() }
        let reader = RingReader(ring, from: .start, isPrompt: true)
        let meter = meter(format)
        var left = format.frames(in: Self.listening)
        while left > 0, loop.step(into: ring) == .running {
            reading: while left > 0 {
                switch unsafe reader.read(atMost: left, { unsafe meter.take($0) }) {
                case .frames(let count, _): left -= count
                case .skipped: continue
                case .nothing: break reading
                }
            }
        }
        guard left == 0 else { return nil }
        let live = zip(grant.layout.kept, meter.signals()).filter(\.1).map(\.0)
        return live.isEmpty ? nil : live
    }
}
