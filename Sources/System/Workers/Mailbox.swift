internal import CLinux
import Glibc
import Takes

/// Messages from one thread to another, with a file descriptor for polling.
public final class Mailbox<Message: Sendable>: Sendable {
    private struct Content {
        var messages: [Message] = []
        /// Whether the file descriptor is readable. Both change under the same lock, so they always agree.
        var isSignalled = false
    }

    private let content = Locked(Content())
    /// Readable from `post` until the messages are taken. `postQuietly` does not make it readable.
    public let fileDescriptor: Int32

    /// The process traps if no file descriptor is left.
    public init() {
        fileDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        precondition(fileDescriptor >= 0, "eventfd: no file descriptor left")
    }

    deinit {
        close(fileDescriptor)
    }

    /// Adds a message and wakes the thread that polls for it.
    public func post(_ message: Message) {
        content.withLock {
            $0.messages.append(message)
            signal(&$0)
        }
    }

    /// Adds a message without waking the other thread, which takes it with the next message, or when it asks.
    public func postQuietly(_ message: Message) {
        content.withLock { $0.messages.append(message) }
    }

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

    /// Waits for a message for at most `nanoseconds`, or without a limit if nil. It may also return without a message.
    public func wait(nanoseconds: Int64?) {
        var descriptor = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        // Rounded up, because a thread that wakes before its deadline would only wait once more.
        let timeout = nanoseconds.map { Int32(clamping: max(0, $0 + 999_999) / 1_000_000) }
        // Safe: the descriptor outlives the call.
        unsafe poll(&descriptor, 1, timeout ?? -1)
    }
}
