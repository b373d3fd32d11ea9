import Glibc
package import Sockets

extension Listener {
    /// Opens a socket like `init(path:pause:)`. Errors name the service.
    package static func opened(
        at path: String, by service: Service, pause: () -> Void = { usleep(10_000) }
    ) throws(ControlError) -> Listener {
        do throws(Failure) {
            return try Listener(path: path, pause: pause)
        } catch {
            throw ControlError(path, error, of: service)
        }
    }
}

extension ControlError {
    /// - Parameter service: the owner of the socket.
    fileprivate init(_ path: String, _ failure: Listener.Failure, of service: Service) {
        let cause: Cause =
            switch failure {
            case .pathLength: .pathLength
            case .notASocket: .notASocket
            case .taken: .taken(by: service)
            case .call(let operation, let code): .listen(operation, code: code)
            }
        self.init(path, cause)
    }
}
