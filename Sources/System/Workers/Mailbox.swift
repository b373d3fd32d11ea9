internal import CLinux
import Glibc
import Takes

/// Messages from one thread to another, with a file descriptor that can be polled while there are any.
public final class Mailbox<Message: Sendable>: Sendable {
    private struct Content {
        var messages: [Message] = []
        /// Whether the file descriptor is readable. It is written and read with the content, so that this is so.
        var isSignalled = false
    }

    private let content = Locked(Content())
    /// Readable from when a message is posted aloud until messages are taken.
    public let fileDescriptor: Int32

    /// An empty mailbox. The process ends if it has no file descriptor left.
    public init() {
        fileDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        precondition(fileDescriptor >= 0, "eventfd: no file descriptor left")
    }

    deinit {
        close(fileDescriptor)
    }

    /// Adds a message, and wakes the thread that polls for it.
    public func post(_ message: Message) {
        content.withLock {
            $0.messages.append(message)
            signal(&$0)
        }
    }

    /// Adds a message without waking the other thread: it is taken with the next one, or when that thread asks.
    public func postQuietly(_ message: Message) {
        content.withLock { $0.messages.append(message) }
    }

    /// Whether there is no message.
    var isEmpty: Bool { content.withLock { $0.messages.isEmpty } }

    /// Wakes the thread that polls, without a message.
    func wake() {
        content.withLock { signal(&$0) }
    }

    private func signal(_ content: inout Content) {
        guard !content.isSignalled else { return }
        eventfd_write(fileDescriptor, 1)
        content.isSignalled = true
    }

    /// All messages, in the order in which they were posted.
    public func take() -> [Message] {
        content.withLock { content in
            if content.isSignalled {
                var count: eventfd_t = 0
                unsafe eventfd_read(fileDescriptor, &count)
            }
            defer { content = Content() }
            return content.messages
        }
    }

    /// Waits until there is a message, or seems to be, at most until `nanoseconds` have passed; nil: without a limit.
    public func wait(nanoseconds: Int64?) {
        var descriptor = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        // Rounded up: a thread that wakes before its deadline would only wait once more.
        let timeout = nanoseconds.map { Int32(clamping: max(0, $0 + 999_999) / 1_000_000) }
        // Safe: the descriptor outlives the call.
        unsafe poll(&descriptor, 1, timeout ?? -1)
    }
}
