import Deck
import Glibc
import ServiceManager
import Takes

/// Reports to the service manager when the recorder is ready, what it does, and that it works. A recorder that was
/// started without systemd has no manager and reports nothing.
struct Supervisor: ~Copyable {
    private let socket: NotifySocket?
    private let log: Log
    private var watchdog: WatchdogFeed?
    private var reported = Reported.nothing
    private var link = Link.working

    /// The last state that the manager received.
    private enum Reported: Equatable {
        case nothing
        /// The recorder is ready, with this status line.
        case ready(String)
    }

    private enum Link { case working, failing }

    /// Finds the manager in the environment (`NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` of `sd_notify(3)` and
    /// `sd_watchdog_enabled(3)`).
    init(environment: (String) -> String? = Self.variable, now: Instant, log: Log, calls: NotifyCalls = NotifyCalls()) {
        self.log = log
        guard let address = environment("NOTIFY_SOCKET") else {
            socket = nil
            watchdog = nil
            return
        }
        do {
            socket = try NotifySocket(address, calls: calls)
        } catch {
            socket = nil
            log.write(Report(.error, "\(error)"))
        }
        let isForUs = environment("WATCHDOG_PID").map { $0 == String(getpid()) } ?? true
        if isForUs, let microseconds = environment("WATCHDOG_USEC").flatMap(Int64.init), microseconds > 0 {
            watchdog = WatchdogFeed(interval: .microseconds(microseconds / 2), start: now)
        } else {
            watchdog = nil
        }
    }

    /// Reports changes, and readiness with the first call. Call it at each turn of the loop.
    ///
    /// - Parameters:
    ///   - position: the number of frames that the card has delivered; nil while it is closed on purpose.
    ///   - summary: the recorder's activity, in one line.
    /// - Returns: the deadline for the next call.
    mutating func turn(_ now: Instant, position: Int64?, summary: String) -> Instant? {
        guard socket != nil else { return nil }
        if reported != .ready(summary) {
            let isSent = reported == .nothing ? send(.ready, .status(summary)) : send(.status(summary))
            if isSent { reported = .ready(summary) }
        }
        if watchdog?.isDue(at: now, position: position) ?? false, send(.watchdog) {
            watchdog?.fed(at: now, position: position)
        }
        return watchdog?.deadline(after: now)
    }

    /// Reports that the recorder was asked to end.
    mutating func ending() {
        _ = send(.stopping)
    }

    /// Logs the first failure after a success.
    private mutating func send(_ notices: NotifySocket.Notice...) -> Bool {
        do throws(NotifyError) {
            try socket?.send(notices)
            link = .working
            return true
        } catch {
            switch link {
            case .working: log.write(Report(.warning, "\(error)"))
            case .failing: break
            }
            link = .failing
            return false
        }
    }

    static func variable(_ name: String) -> String? {
        // Safe: the value is copied at once, and no thread changes the environment.
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}
