import Deck
import Glibc
import Takes

/// The service manager that started the recorder, as the recorder talks to it: it is told when the recorder is ready, what
/// it does and that it lives. Started by hand, the recorder has none, and nothing is told.
struct Supervisor: ~Copyable {
    private let socket: NotifySocket?
    private let log: Log
    private var watchdog: WatchdogFeed?
    private var told: String?
    private var isFailing = false

    /// The one that the environment names (`NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` of `sd_notify(3)` and
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

    /// Tells what is to be told at a turn of the loop; with the first, that the recorder is ready.
    ///
    /// - Parameters:
    ///   - position: frames that the card has delivered; nil while it is rightly closed.
    ///   - summary: what the recorder is doing, in one line.
    /// - Returns: when it wants to be called again at the latest.
    mutating func turn(_ now: Instant, position: Int64?, summary: String) -> Instant? {
        guard socket != nil else { return nil }
        if summary != told {
            let isTold = told == nil ? tell(.ready, .status(summary)) : tell(.status(summary))
            if isTold { told = summary }
        }
        if watchdog?.isDue(at: now, position: position) ?? false, tell(.watchdog) {
            watchdog?.fed(at: now, position: position)
        }
        return watchdog?.deadline(after: now)
    }

    /// Tells that the recorder was asked to end, and does so.
    mutating func ending() {
        _ = tell(.stopping)
    }

    /// A manager that cannot be told is told of in the log, once until it can be told again.
    private mutating func tell(_ notices: NotifySocket.Notice...) -> Bool {
        do throws(NotifyError) {
            try socket?.send(notices)
            isFailing = false
            return true
        } catch {
            if !isFailing { log.write(Report(.warning, "\(error)")) }
            isFailing = true
            return false
        }
    }

    /// A variable of the environment.
    static func variable(_ name: String) -> String? {
        // Safe: copied at once, and nobody changes the environment.
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}
