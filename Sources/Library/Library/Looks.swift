import ServiceLifecycle

/// Runs a check soon after each request, and at a fixed interval.
struct Looks: Sendable {
    private let wishes: AsyncStream<Void>
    private let mailbox: AsyncStream<Void>.Continuation

    init() {
        (wishes, mailbox) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Requests a check. Thread-safe.
    func ask() { mailbox.yield() }

    /// Runs `look` after each request and every `interval` until shutdown.
    /// - Parameter onEnd: called at once at shutdown, possibly during a check.
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
