import Glibc
public import Takes

/// The recorder's only loop. It waits in `poll(2)` for file descriptors and for the next deadline, and does nothing
/// else.
public final class Loop {
    private let clock: any Clock
    private var handlers: [(fileDescriptor: Int32, isReady: () -> Void)] = []
    private var isStopped = false

    public init(clock: any Clock) {
        self.clock = clock
    }

    /// Calls `isReady` whenever `fileDescriptor` is readable.
    public func watch(_ fileDescriptor: Int32, isReady: @escaping () -> Void) {
        handlers.append((fileDescriptor, isReady))
    }

    /// Ends `run` after the current turn.
    public func stop() {
        isStopped = true
    }

    /// Runs until `stop`. Before each wait it calls the turns of the parts, in their order. It waits for the earliest of
    /// their deadlines, and releases the parts at its end.
    public func run(_ parts: [any LoopPart]) {
        for part in parts {
            for descriptor in part.fileDescriptors { watch(descriptor) { [clock] in part.ready(now: clock.now()) } }
        }
        run { now in parts.compactMap { $0.turn(now: now) }.min() }
        handlers = []
    }

    /// Runs until `stop`. Before each wait it calls `turn`, which does the work that is due and returns the latest time
    /// for its next call, or nil to be called only after a file descriptor was ready.
    public func run(turn: (Instant) -> Instant?) {
        while !isStopped {
            let deadline = turn(clock.now())
            if isStopped { return }
            var descriptors = handlers.map { pollfd(fd: $0.fileDescriptor, events: Int16(POLLIN), revents: 0) }
            // Rounded up, because a loop that wakes before its deadline would only turn once more.
            let timeout = deadline.map { Int32(clamping: (($0 - clock.now()).nanoseconds + 999_999) / 1_000_000) }
            // Safe: the array outlives the call.
            let ready = unsafe poll(&descriptors, nfds_t(descriptors.count), timeout.map { max(0, $0) } ?? -1)
            guard ready > 0 else { continue }
            for (index, descriptor) in descriptors.enumerated() where descriptor.revents != 0 {
                handlers[index].isReady()
            }
        }
    }
}
