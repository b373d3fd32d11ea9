internal import CLinux
import Glibc
import Synchronization

/// How soon the readers of a ring need its frames. While none of them waits for frames, the capture thread may leave them in the card's
/// buffer for longer, so that the processor sleeps.
public struct Demand: ~Copyable, Sendable {
    /// Readable once a reader has come that waits for frames, until `clear`. Negative if the system had no file descriptor left: the
    /// capture thread notices such a reader with its next frames then.
    public let fileDescriptor: Int32
    private let waiting = Atomic<Int>(0)

    init() {
        fileDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    }

    deinit {
        if fileDescriptor >= 0 { close(fileDescriptor) }
    }

    /// Whether a reader waits for frames, and is to get them a period after they were sampled.
    @_noLocks @_noAllocation
    public func isPrompt() -> Bool { waiting.load(ordering: .acquiring) > 0 }

    /// Makes the descriptor unreadable until another reader comes.
    @_noLocks @_noAllocation
    public func clear() {
        // Copied, so that the call holds no reference.
        let descriptor = fileDescriptor
        var count: eventfd_t = 0
        // Safe: the value outlives the call, which neither blocks nor allocates.
        unsafe _unsafePerformance { _ = unsafe eventfd_read(descriptor, &count) }
    }

    /// One more reader waits for frames.
    func begin() {
        if waiting.add(1, ordering: .acquiringAndReleasing).oldValue == 0 { eventfd_write(fileDescriptor, 1) }
    }

    /// One reader less does.
    func end() {
        waiting.subtract(1, ordering: .acquiringAndReleasing)
    }
}
