/// Converts the waveform of a part whose rate differs from the take's rate. In the result a pixel covers 256 frames at
/// the take's rate, so that a position in the waveform is a time at any rate of the card.
package struct PeaksScale: Sendable {
    private let channels: Int
    private let rateHz: Int64
    private let takeRateHz: Int64
    /// Pixels of the part so far.
    private var count: Int64 = 0
    /// The incomplete pixel of the take, and its number since the part began.
    private var pixel: [Int8] = []
    private var number: Int64 = 0

    /// - Parameters:
    ///   - rateHz: of the part.
    ///   - takeRateHz: of the take.
    package init(channels: Int, from rateHz: Int, to takeRateHz: Int) {
        self.channels = channels
        self.rateHz = Int64(max(1, rateHz))
        self.takeRateHz = Int64(max(1, takeRateHz))
    }

    /// Adds pixels of the part, in the layout of `PeaksFile.pairs`.
    /// - Returns: the completed pixels of the take.
    package mutating func add(_ pairs: [Int8]) -> [Int8] {
        guard rateHz != takeRateHz else { return pairs }
        let size = 2 * channels
        var complete: [Int8] = []
        for start in stride(from: 0, to: pairs.count - pairs.count % size, by: size) {
            let first = count * takeRateHz / rateHz
            let last = ((count + 1) * takeRateHz - 1) / rateHz
            count += 1
            for place in first...last {
                if !pixel.isEmpty, place == number {
                    merge(pairs[start..<start + size])
                } else {
                    complete += pixel
                    pixel = Array(pairs[start..<start + size])
                    number = place
                }
            }
        }
        return complete
    }

    /// Returns the incomplete pixel. The next pixel that is added begins another part.
    package mutating func finish() -> [Int8] {
        defer { (count, number, pixel) = (0, 0, []) }
        return pixel
    }

    private mutating func merge(_ pairs: ArraySlice<Int8>) {
        for index in pixel.indices {
            let value = pairs[pairs.startIndex + index]
            pixel[index] = index % 2 == 0 ? min(pixel[index], value) : max(pixel[index], value)
        }
    }
}
