import Takes

/// Maps the frames of a card's queue to places in the take, in one or more segments of constant speed.
struct PlayMap {
    /// Begins at a frame of the queue, and lasts until the next segment.
    struct Segment: Hashable {
        var frame: Int64
        var position: PlayPosition
        /// Seconds of the take for each second of the queue.
        var speed: Double
    }

    private let rateHz: Int
    private let lengths: PlayLengths
    /// In the order of their frames, never empty.
    private var segments: [Segment]

    init(rateHz: Int, lengths: PlayLengths, _ segment: Segment) {
        self.rateHz = rateHz
        self.lengths = lengths
        segments = [segment]
    }

    /// Continues somewhere else. The earlier segments are dropped, so the position is at once the target of the jump.
    mutating func jump(_ segment: Segment) {
        segments = [segment]
    }

    /// Continues at the same place with another speed.
    mutating func change(_ segment: Segment) {
        segments.removeAll { $0.frame >= segment.frame }
        segments.append(segment)
    }

    /// Drops segments that no frame from `frame` on needs.
    mutating func drop(before frame: Int64) {
        while segments.count > 1, segments[1].frame <= frame { segments.removeFirst() }
    }

    /// The place in the take that a frame of the queue belongs to.
    func position(ofFrame frame: Int64) -> PlayPosition {
        let segment = segments.last { $0.frame <= frame } ?? segments[0]
        let seconds = Double(max(0, frame - segment.frame)) / Double(rateHz)
        return min(lengths.moved(from: segment.position, by: seconds * segment.speed), lengths.end)
    }

    /// The further course of the position, if `frame` is played now.
    /// - Parameter end: the queue's first frame that belongs to no place, or nil if more frames will follow.
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
