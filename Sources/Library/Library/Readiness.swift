import Glibc
import Logging
import ServiceLifecycle
import ServiceManager

/// Tells the service manager (`NOTIFY_SOCKET`), if there is one, when the library is ready and when it stops.
struct Readiness: Service {
    let log: Logger

    func run() async throws {
        // Safe: the string is copied at once, and no thread changes the environment.
        let address = unsafe getenv("NOTIFY_SOCKET").map { unsafe String(cString: $0) }
        send([.ready], to: address)
        try? await gracefulShutdown()
        send([.stopping], to: address)
    }

    private func send(_ notices: [NotifySocket.Notice], to address: String?) {
        guard let address else { return }
        do throws(NotifyError) {
            try NotifySocket(address).send(notices)
        } catch {
            log.warning("\(error)")
        }
    }
}
