import Glibc
import Logging
import ServiceLifecycle
import ServiceManager

/// Tells the service manager (`NOTIFY_SOCKET`), if there is one, that the library still starts, when it is ready, and
/// when it stops.
struct Readiness: Service {
    let log: Logger
    /// The manager's socket, or nil.
    var address: String? = Self.addressInEnvironment

    func run() async throws {
        send([.ready])
        try? await gracefulShutdown()
        send([.stopping])
    }

    /// Starts the library, and asks for more time as long as that advances. A large catalog on a slow card is checked
    /// and migrated for minutes.
    /// - Parameters:
    ///   - pause: waits until the next look.
    ///   - used: the processor time of this process.
    func starting<Result: Sendable>(
        pause: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: StartProgress.interval) },
        used: @escaping @Sendable () -> Duration = StartProgress.processorTime,
        _ start: () async throws -> Result
    ) async throws -> Result {
        let looks = Task {
            var progress = StartProgress(used())
            while true {
                try await pause()
                if progress.advances(used()) { send([.moreTime(StartProgress.patience)]) }
            }
        }
        defer { looks.cancel() }
        return try await start()
    }

    private static var addressInEnvironment: String? {
        // Safe: the string is copied at once, and no thread changes the environment.
        unsafe getenv("NOTIFY_SOCKET").map { unsafe String(cString: $0) }
    }

    private func send(_ notices: [NotifySocket.Notice]) {
        guard let address else { return }
        do throws(NotifyError) {
            try NotifySocket(address).send(notices)
        } catch {
            log.warning("\(error)")
        }
    }
}
