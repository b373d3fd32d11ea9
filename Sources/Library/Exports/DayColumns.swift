import Takes

/// The columns of a picture of a day: stretches of time of equal length, in seconds since the day began. Pure.
public struct DayColumns: Hashable, Sendable {
    public let count: Int
    public let stretch: Range<Double>

    public static let most = 2000

    /// - Parameters:
    ///   - count: 1 to `most`.
    ///   - stretch: not empty.
    public init(_ count: Int, of stretch: Range<Double>) {
        self.count = max(1, min(count, Self.most))
        self.stretch = stretch
    }

    private var width: Double { (stretch.upperBound - stretch.lowerBound) / Double(count) }

    /// The time of a column.
    func time(of column: Int) -> Range<Double> {
        let start = stretch.lowerBound + Double(column) * width
        return start..<start + width
    }

    /// The columns that show some of a time.
    func columns(showing time: Range<Double>) -> Range<Int> {
        let shown = time.clamped(to: stretch)
        guard !shown.isEmpty else { return 0..<0 }
        let first = Int(((shown.lowerBound - stretch.lowerBound) / width).rounded(.down))
        let end = Int(((shown.upperBound - stretch.lowerBound) / width).rounded(.up))
        return min(first, count - 1)..<max(min(first, count - 1) + 1, min(end, count))
    }

    /// The frames of a sound that a column shows: at least one, if the sound has any.
    /// - Parameters:
    ///   - time: of the sound.
    ///   - rateHz: of its frames.
    ///   - frames: the number of its frames.
    func frames(of column: Int, in time: Range<Double>, rateHz: Int, frames: Int64) -> Range<Int64> {
        func frame(_ seconds: Double) -> Double { (seconds - time.lowerBound) * Double(rateHz) }
        let shown = self.time(of: column)
        // In the numbers of a `Double` first: a column may lie far from the sound.
        let first = max(0, min(Double(frames - 1), frame(shown.lowerBound).rounded(.down)))
        let end = max(first + 1, min(Double(frames), frame(shown.upperBound).rounded(.up)))
        return Int64(first)..<Int64(end)
    }

    /// The columns in runs that can be drawn at once: those that show nothing but this time follow each other. A column
    /// that also shows other time is a run of its own.
    func runs(showing time: Range<Double>) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var isOpen = false
        for column in columns(showing: time) {
            let shown = self.time(of: column)
            let isWhole = time.lowerBound <= shown.lowerBound && shown.upperBound <= time.upperBound
            if isWhole, isOpen, let last = runs.popLast() {
                runs.append(last.lowerBound..<column + 1)
            } else {
                runs.append(column..<column + 1)
            }
            isOpen = isWhole
        }
        return runs
    }
}

extension TakeSound.Part {
    /// When the part was recorded.
    /// - Parameters:
    ///   - start: when the take began.
    ///   - rateHz: of the take.
    func time(ofTakeAt start: Double, rateHz: Int) -> Range<Double> {
        let begin = start + Double(first) / Double(max(1, rateHz))
        return begin..<begin + Double(max(0, frames)) / Double(max(1, format.rateHz))
    }
}
