import ServiceLifecycle

/// Has somebody look at something again: soon after that is asked for, and at an interval.
struct Looks: Sendable {
    private let wishes: AsyncStream<Void>
    private let mailbox: AsyncStream<Void>.Continuation

    init() {
        (wishes, mailbox) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Asks for a look. May be called by any thread.
    func ask() { mailbox.yield() }

    /// Looks whenever it is asked for, and each `interval`, until the library is to end.
    /// - Parameter onEnd: is called at once when the library is to end; a look may be under way.
    func run(
        each interval: Duration, isolation: isolated (any Actor)? = #isolation,
        onEnd: @escaping @Sendable () -> Void = {}, look: () async -> Void
    ) async {
        let timer = Task { [mailbox] in
            while true {
                try await Task.sleep(for: interval)
                mailbox.yield()
            }
        }
        defer { timer.cancel() }
        await withGracefulShutdownHandler {
            for await _ in wishes { await look() }
        } onGracefulShutdown: {
            onEnd()
            mailbox.finish()
        }
    }
}
