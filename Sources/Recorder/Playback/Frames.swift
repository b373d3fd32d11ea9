/// Interleaved frames that pass from one stage to the next.
struct Frames {
    let channels: Int
    /// Whole frames, full scale 1.
    private(set) var samples: [Double] = []

    init(channels: Int) {
        self.channels = channels
    }

    var count: Int { samples.count / channels }

    mutating func append(_ source: [Double], frameCount: Int) {
        samples.append(contentsOf: source[..<(frameCount * channels)])
    }

    mutating func removeFirst(_ frameCount: Int) {
        samples.removeFirst(frameCount * channels)
    }

    /// Inserts a copy of a frame after it.
    mutating func repeatFrame(_ frame: Int) {
        let range = frame * channels..<(frame + 1) * channels
        samples.insert(contentsOf: Array(samples[range]), at: range.upperBound)
    }

    mutating func removeFrame(_ frame: Int) {
        samples.removeSubrange(frame * channels..<(frame + 1) * channels)
    }

    mutating func removeAll() {
        samples.removeAll(keepingCapacity: true)
    }
}
