internal import CLinux
import Glibc
import Synchronization

/// How soon the readers of a ring need its frames. While no reader waits for frames, the capture thread may leave them
/// in the card's buffer for longer, so that the processor sleeps.
public struct Demand: ~Copyable, Sendable {
    /// Becomes readable when the first waiting reader is added, until `clear`. Negative if the system had no file
    /// descriptor left: then the capture thread notices the reader with its next frames.
    public let fileDescriptor: Int32
    private let waiting = Atomic<Int>(0)

    init() {
        fileDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    }

    deinit {
        if fileDescriptor >= 0 { close(fileDescriptor) }
    }

    /// Whether any reader needs frames within one period of their sampling.
    @_noLocks @_noAllocation
    public func isPrompt() -> Bool { waiting.load(ordering: .acquiring) > 0 }

    /// Makes the descriptor unreadable until another first reader is added.
    @_noLocks @_noAllocation
    public func clear() {
        // Copied, so that the call holds no reference.
        let descriptor = fileDescriptor
        var count: eventfd_t = 0
        // Safe: the value outlives the call, which neither blocks nor allocates.
        unsafe _unsafePerformance { _ = unsafe eventfd_read(descriptor, &count) }
    }

    /// Adds a reader that waits for frames.
    func begin() {
        if waiting.add(1, ordering: .acquiringAndReleasing).oldValue == 0 { eventfd_write(fileDescriptor, 1) }
    }

    /// Removes a reader that waited for frames.
    func end() {
        waiting.subtract(1, ordering: .acquiringAndReleasing)
    }
}
