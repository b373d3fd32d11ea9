internal import CLinux
import Glibc
import Synchronization

/// Letters from one thread to another, with a file descriptor that can be polled while there are any.
package final class Mailbox<Letter: Sendable>: Sendable {
    private let letters = Mutex<[Letter]>([])
    /// Readable while there are letters, and once more if one was taken just before it was announced.
    package let fileDescriptor: Int32

    package init() {
        fileDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        precondition(fileDescriptor >= 0, "eventfd: no file descriptor left")
    }

    deinit {
        close(fileDescriptor)
    }

    package func post(_ letter: Letter) {
        letters.withLock { $0.append(letter) }
        eventfd_write(fileDescriptor, 1)
    }

    /// All letters, in the order they were posted.
    package func take() -> [Letter] {
        var count: eventfd_t = 0
        unsafe eventfd_read(fileDescriptor, &count)
        return letters.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }

    /// Waits until there is a letter, or seems to be, at most until `nanoseconds` have passed; nil: as long as it takes.
    func wait(nanoseconds: Int64?) {
        var descriptor = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        let timeout = nanoseconds.map { Int32(clamping: max(0, $0 + 999_999) / 1_000_000) }
        // Safe: the descriptor outlives the call.
        unsafe poll(&descriptor, 1, timeout ?? -1)
    }
}
