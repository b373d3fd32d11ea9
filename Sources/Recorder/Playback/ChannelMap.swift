/// How a take's channels are played on a card with another number of channels.
///
/// A mono take is played on the first two channels. If the card has at least as many channels as the take, each goes to
/// its own. If it has fewer, the take's channels are distributed in turn (odd channels left, even channels right), and
/// channels that share an output are averaged. So no channel is missing and nothing clips.
struct ChannelMap: Hashable, Sendable {
    let from: Int
    let to: Int

    func map(_ source: [Double], frameCount: Int, into result: inout [Double]) {
        for frame in 0..<frameCount {
            let read = frame * from
            let write = frame * to
            for channel in 0..<to { result[write + channel] = 0 }
            if from == 1 {
                for channel in 0..<min(2, to) { result[write + channel] = source[read] }
            } else {
                for channel in 0..<from { result[write + channel % to] += source[read + channel] }
                guard from > to else { continue }
                for channel in 0..<to {
                    result[write + channel] /= Double((from - channel + to - 1) / to)
                }
            }
        }
    }
}
