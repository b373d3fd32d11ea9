import Control
import Takes
import Transport

/// Detects that a take begins, even if the recorder is started meanwhile.
final class TakeWatch {
    private enum State {
        /// With the last reported state.
        case connected(ControlClient, DeckState)
        /// No recorder runs. The next attempt is at `next`.
        case down(next: Instant)
    }

    private let session: Session
    private var state: State

    private static let interval = Duration.seconds(1)

    init(_ session: Session) {
        self.session = session
        state = .down(next: session.clock.now())
    }

    /// Whether a take is being recorded, or was since the last call. Does not block.
    func isRecording() -> Bool {
        switch state {
        case .down(let next):
            let now = session.clock.now()
            guard now >= next else { return false }
            state = .down(next: now + Self.interval)
            guard let client = try? session.connect(),
                let status = try? client.askForStatus(.watch(levels: false, peaks: false)).0
            else { return false }
            state = .connected(client, status.state)
            return status.state == .recording
        case .connected(let client, var last):
            do throws(ControlError) {
                // A take that has already ended also counts as begun.
                var hasBegun = last == .recording
                while let (event, _) = try client.nextEvent(until: Instant(nanoseconds: 0)) {
                    guard case .status(let status) = event else { continue }
                    last = status.state
                    hasBegun = hasBegun || last == .recording
                }
                state = .connected(client, last)
                return hasBegun
            } catch {
                state = .down(next: session.clock.now())
                return false
            }
        }
    }
}
