import Glibc
import Logging
import ServiceLifecycle
import ServiceManager

/// Reports to the service manager, if one started the library, that it runs, and when it is to end.
struct Readiness: Service {
    let log: Logger

    func run() async throws {
        // Safe: copied at once, and no thread changes the environment.
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
