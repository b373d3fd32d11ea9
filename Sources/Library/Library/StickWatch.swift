import Control
import ServiceLifecycle
import Takes
import Transport
import Workers

/// While a stick is offered, watches for the recorder's event that a person holds stop and play.
final class StickWatch: ServiceLifecycle.Service, Sendable {
    private enum State {
        case waiting, offered, ending
    }

    private let path: String
    private let adopt: @Sendable () -> Void
    private let state = Locked(State.waiting)
    /// Wakes the thread.
    private let wake = Mailbox<Void>()

    /// The time before it connects again to a recorder that was unavailable.
    private static let pause = Duration.seconds(2)
    /// The interval at which it checks whether the stick is still offered.
    private static let look = Duration.seconds(1)

    /// - Parameters:
    ///   - path: the recorder's socket.
    ///   - adopt: called on this watch's thread when a person asks for the adoption.
    init(path: String, adopt: @escaping @Sendable () -> Void) {
        self.path = path
        self.adopt = adopt
    }

    /// Receives the state of the upload lamp. Thread-safe.
    func show(_ upload: UploadState) {
        let isChanged = state.withLock { state in
            let next: State = upload == .stickOffered ? .offered : .waiting
            guard state != .ending, state != next else { return false }
            state = next
            return true
        }
        if isChanged { wake.post(()) }
    }

    func run() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Never.self)
        let thread = try Thread(name: "stick") {
            self.watch()
            end.finish()
        }
        try? await gracefulShutdown()
        state.withLock { $0 = .ending }
        wake.post(())
        for await _ in ended {}
        thread.join()
    }

    private var now: State { state.withLock { $0 } }

    private func watch() {
        while true {
            _ = wake.take()
            switch now {
            case .ending: return
            case .waiting: wake.wait(nanoseconds: nil)
            case .offered:
                do throws(ControlError) {
                    try follow()
                } catch {
                    // Without a recorder there are no buttons.
                    wake.wait(nanoseconds: Self.pause.nanoseconds)
                }
            }
        }
    }

    /// Reads the recorder's events while a stick is offered.
    private func follow() throws(ControlError) {
        let clock = SystemClock()
        let client = try ControlClient(path: path)
        _ = try client.ask(.watch(levels: false, peaks: false))
        while now == .offered {
            let line = try client.nextEventLine(until: clock.now() + Self.look)
            if let line, Event(line: line) == .panel(.adoptStick) { adopt() }
        }
    }
}
