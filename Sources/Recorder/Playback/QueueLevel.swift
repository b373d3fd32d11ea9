import Takes

/// The fill level of the queue to a card that plays the sound of another card.
///
/// Two cards never run at exactly the same rate, so the queue slowly grows or runs dry. Frames come in bursts.
/// Therefore the level is the minimum over a second of the frames queued when others are added. If it is off by more
/// than `tolerance`, that many frames must be left out or repeated, one at a time. If it is far too high, or too high
/// just after the start, the excess is left out at once.
struct QueueLevel {
    /// The intended minimum of queued frames when others are added.
    let target: Int64
    /// The number of frames to repeat, one in each chunk. Below 0: the number of frames to leave out.
    private(set) var missing: Int64 = 0
    private let tolerance: Int64
    private let far: Int64
    private var least: Int64?
    private var state: State

    private enum State {
        /// The queue was just filled.
        case begun(Instant)
        case steady(since: Instant)
    }

    /// Allows the thread that adds frames to be this late.
    private static let target = Duration.milliseconds(15)
    private static let tolerance = Duration.milliseconds(3)
    private static let far = Duration.milliseconds(30)
    private static let window = Duration.seconds(1)
    private static let firstWindow = Duration.milliseconds(300)

    init(format: StreamFormat, now: Instant) {
        target = format.frames(in: Self.target)
        tolerance = format.frames(in: Self.tolerance)
        far = format.frames(in: Self.far)
        state = .begun(now)
    }

    /// Called before frames are added.
    /// - Parameter queued: the number of frames in the queue.
    /// - Returns: the number of frames to leave out at once.
    mutating func add(queued: Int64, now: Instant) -> Int64 {
        let least = min(self.least ?? queued, queued)
        self.least = least
        let limit: Int64
        switch state {
        case .begun(let start):
            guard now - start >= Self.firstWindow else { return 0 }
            limit = tolerance
        case .steady(let start):
            guard now - start >= Self.window else { return 0 }
            limit = far
        }
        self.least = nil
        state = .steady(since: now)
        // During a correction the level is still off for the same reason.
        guard missing == 0 else { return 0 }
        let excess = least - target
        if excess > limit { return excess }
        if abs(excess) > tolerance { missing = -excess }
        return 0
    }

    /// Called after the queue was filled to the target again.
    mutating func restart(now: Instant) {
        missing = 0
        least = nil
        state = .begun(now)
    }

    /// Called after one frame was repeated or left out.
    mutating func corrected() {
        missing -= missing.signum()
    }
}
