import Workers

/// Holds up the threads that wait at it, as a device does that hangs, until it is opened.
final class Gate: Sendable {
    private let mailbox = Mailbox<Void>()

    func wait() { mailbox.wait(nanoseconds: nil) }

    /// Lets all pass, those that come later too.
    func open() { mailbox.post(()) }
}
