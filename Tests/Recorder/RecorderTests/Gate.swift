import Workers

/// Blocks the threads that wait at it, like a device that hangs, until it is opened.
final class Gate: Sendable {
    private let mailbox = Mailbox<Void>()

    func wait() { mailbox.wait(nanoseconds: nil) }

    /// Releases all threads, also those that wait later.
    func open() { mailbox.post(()) }
}
