/// Converts a take's channels to those of a card.
final class MapStage: PlayStage {
    private let map: ChannelMap
    private var mapped: [Double] = []

    var channels: Int { map.to }
    let leadFrames = 0
    let latencyFrames = 0

    init(from: Int, to: Int) {
        map = ChannelMap(from: from, to: to)
    }

    func process(_ input: Frames, into output: inout Frames) {
        let size = input.count * map.to
        if mapped.count < size { mapped = [Double](repeating: 0, count: size) }
        map.map(input.samples, frameCount: input.count, into: &mapped)
        output.append(mapped, frameCount: input.count)
    }

    func flush(into output: inout Frames) {}

    func reset() {}
}
