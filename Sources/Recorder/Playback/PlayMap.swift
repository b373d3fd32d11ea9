import Takes

/// Which frame of a card's queue is which place of the take: one or more segments, each of one speed.
struct PlayMap {
    /// From a frame of the queue on, up to the next segment.
    struct Segment: Hashable {
        var frame: Int64
        var position: PlayPosition
        /// Seconds of the take for each second of the queue.
        var speed: Double
    }

    private let rateHz: Int
    private let lengths: PlayLengths
    /// In the order of their frames; never none.
    private var segments: [Segment]

    /// A queue at `rateHz` that begins with one segment.
    init(rateHz: Int, lengths: PlayLengths, _ segment: Segment) {
        self.rateHz = rateHz
        self.lengths = lengths
        segments = [segment]
    }

    /// The playing goes on somewhere else. What was before is dropped: from now on the position is where it jumps to.
    mutating func jump(_ segment: Segment) {
        segments = [segment]
    }

    /// The playing goes on at the same place, at another speed.
    mutating func change(_ segment: Segment) {
        segments.removeAll { $0.frame >= segment.frame }
        segments.append(segment)
    }

    /// Drops what no frame from `frame` on needs.
    mutating func drop(before frame: Int64) {
        while segments.count > 1, segments[1].frame <= frame { segments.removeFirst() }
    }

    /// The place that a frame of the queue is of.
    func position(ofFrame frame: Int64) -> PlayPosition {
        let segment = segments.last { $0.frame <= frame } ?? segments[0]
        let seconds = Double(max(0, frame - segment.frame)) / Double(rateHz)
        return min(lengths.moved(from: segment.position, by: seconds * segment.speed), lengths.end)
    }

    /// How the position moves on from now, when `frame` is played.
    /// - Parameter end: the queue's first frame that is of no place; nil: there will be more.
    func progress(ofFrame frame: Int64, end: Int64?, now: Instant) -> PlayProgress {
        var lines = segments.enumerated().filter { index, _ in
            index + 1 == segments.count || segments[index + 1].frame > frame
        }.map { _, segment in
            let first = max(frame, segment.frame)
            return PlayProgress.Line(
                from: now + .seconds(Double(first - frame) / Double(rateHz)),
                seconds: lengths.seconds(at: position(ofFrame: first)), speed: segment.speed)
        }
        if let end {
            lines.append(
                PlayProgress.Line(
                    from: now + .seconds(Double(end - frame) / Double(rateHz)),
                    seconds: lengths.seconds(at: position(ofFrame: end)), speed: 0))
        }
        return PlayProgress(lines: lines, total: lengths.seconds)
    }
}
