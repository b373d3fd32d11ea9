import Takes

/// How much is queued at a card that plays what another card captures.
///
/// Two cards never run at quite the same rate, so the queue slowly grows or runs dry. Frames come in bursts, hence the level is
/// the least that was queued when others were added, over a second. If it is off by more than `tolerance`, so many frames are to be
/// left out or repeated, one at a time. If it is far too high, or too high just after the sound has begun, they are to be left out
/// at once.
struct QueueLevel {
    /// The least that is to be queued when others are added.
    let target: Int64
    /// So many frames are to be repeated, one in each chunk; below 0: to be left out.
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

    /// What is to be queued: the thread that adds frames may be so late.
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

    /// Frames are about to be added.
    /// - Parameter queued: how many are queued.
    /// - Returns: how many are to be left out at once.
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
        // What is being corrected is not off by anything new.
        guard missing == 0 else { return 0 }
        let excess = least - target
        if excess > limit { return excess }
        if abs(excess) > tolerance { missing = -excess }
        return 0
    }

    /// The queue was filled to the target again.
    mutating func restart(now: Instant) {
        missing = 0
        least = nil
        state = .begun(now)
    }

    /// One of those frames was repeated or left out.
    mutating func corrected() {
        missing -= missing.signum()
    }
}
