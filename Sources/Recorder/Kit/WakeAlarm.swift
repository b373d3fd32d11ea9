import Deck
import Files
import Takes

/// Sets the clock chip's alarm, which switches the kit on, through the privileged unit fieldfare-wake.
final class WakeAlarm {
    private let clock: any Clock
    private let unit: UnitRequest
    private let path: String
    private var state = State.idle

    /// Called with an error message without its subject, or with nil if the alarm is set.
    typealias Completion = (String?) -> Void

    private enum State {
        case idle
        case requested(since: Instant, Completion)
    }

    private static let interval = Duration.milliseconds(200)
    /// The unit's timeout is 10 s; it needs some more time to end.
    private static let patience = Duration.seconds(14)

    /// - Parameter path: the file that the unit watches.
    init(clock: any Clock, path: String = "/run/fieldfare/wake", files: FileSystem = FileSystem()) {
        self.clock = clock
        self.path = path
        unit = UnitRequest(path: path, files: files)
    }

    /// - Parameter time: rounded down to the second.
    func set(_ time: WallTime, _ completion: @escaping Completion) {
        do throws(FileError) {
            try unit.write("\(time.microseconds / 1_000_000)\n")
        } catch {
            return completion("\(path) cannot be written for fieldfare-wake: \(SystemError(error.code))")
        }
        state = .requested(since: clock.now(), completion)
    }

    /// Advances the state.
    /// - Returns: the deadline for the next call, or nil if no request is pending.
    func turn(now: Instant) -> Instant? {
        guard case .requested(let since, let completion) = state else { return nil }
        let isLate = now - since >= Self.patience
        guard let result = unit.takeResult() ?? (isLate ? "timeout" : nil) else { return now + Self.interval }
        state = .idle
        if result == "success" {
            completion(nil)
        } else if unit.isTaken {
            completion("fieldfare-wake did not set it (\(result)): see 'journalctl -u fieldfare-wake'")
        } else {
            unit.withdraw()
            completion(
                "\(path) was not read within \(Self.patience.components.seconds) s: is fieldfare-wake.path running?")
        }
        return nil
    }
}
