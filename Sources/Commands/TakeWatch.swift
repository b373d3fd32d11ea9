import Control
import Takes
import Transport

/// Notices that a take begins, also in a recorder that is started meanwhile.
final class TakeWatch {
    private enum State {
        case connected(ControlClient)
        /// No recorder runs; it is looked for again then.
        case down(next: Instant)
    }

    private let session: Session
    private var state: State

    private static let interval = Duration.seconds(1)

    init(_ session: Session) {
        self.session = session
        state = .down(next: session.clock.now())
    }

    /// Whether a take is being recorded now. Does not wait.
    func isRecording() -> Bool {
        switch state {
        case .down(let next):
            let now = session.clock.now()
            guard now >= next else { return false }
            state = .down(next: now + Self.interval)
            guard let client = try? session.connect(),
                let status = try? client.askForStatus(.watch(levels: false, peaks: false)).0
            else { return false }
            state = .connected(client)
            return status.state == .recording
        case .connected(let client):
            do throws(ControlError) {
                while let (event, _) = try client.nextEvent(until: Instant(nanoseconds: 0)) {
                    if case .status(let status) = event, status.state == .recording { return true }
                }
            } catch {
                state = .down(next: session.clock.now())
            }
            return false
        }
    }
}
