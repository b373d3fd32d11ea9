import Control
import Glibc
import ServiceLifecycle
import Takes
import Transport
import Workers

/// Reports the state of the outbox to the recorder, which drives the lamps. The recorder shows it as long as the
/// connection lasts.
actor RecorderLink: ServiceLifecycle.Service {
    private let path: String
    /// The time before it connects again to a recorder that was unavailable.
    private let pause: Duration
    private let executor: ThreadExecutor
    private var client: ControlClient?
    private var shown = Wish()
    private var wanted = Wish()
    /// Connects again after `pause`; nil while no attempt is scheduled.
    private var retry: Task<Void, Never>?
    private nonisolated let latest = Locked(Wish())
    private nonisolated let wishes: AsyncStream<Wish>
    private nonisolated let mailbox: AsyncStream<Wish>.Continuation

    /// The state that the recorder should show.
    private struct Wish: Hashable, Sendable {
        var upload = UploadState.idle
        /// A sentence about damaged takes, or nil if no take is damaged.
        var damage: String?
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// - Parameter path: the recorder's socket.
    init(path: String, pause: Duration = .seconds(2)) throws {
        self.path = path
        self.pause = pause
        executor = try ThreadExecutor(name: "recorder")
        (wishes, mailbox) = AsyncStream.makeStream(of: Wish.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Shows the state of the outbox. Thread-safe.
    nonisolated func show(_ state: UploadState) { show { $0.upload = state } }

    /// Shows that takes are damaged, or with nil that none is. Thread-safe.
    nonisolated func show(damage: String?) { show { $0.damage = damage } }

    private nonisolated func show(_ change: (inout Wish) -> Void) {
        // Yield inside the lock, so that the order of the changes is kept and the last one wins.
        latest.withLock { wish in
            change(&wish)
            mailbox.yield(wish)
        }
    }

    /// Shows the latest state until shutdown.
    func run() async throws {
        await withGracefulShutdownHandler {
            for await wish in wishes {
                wanted = wish
                if retry == nil { indicate() }
            }
            retry?.cancel()
            client = nil
        } onGracefulShutdown: {
            self.mailbox.finish()
        }
    }

    /// Whether the recorder has ended or closed this connection.
    private static func isClosed(_ client: ControlClient) -> Bool {
        var file = pollfd(fd: client.fileDescriptor, events: Int16(POLLIN), revents: 0)
        // Safe: the call returns at once, and the value outlives it.
        unsafe poll(&file, 1, 0)
        return file.revents & Int16(POLLHUP | POLLERR) != 0
    }

    private func indicate() {
        if let client, Self.isClosed(client) {
            self.client = nil
            shown = Wish()
        }
        guard wanted != shown else { return }
        do {
            let link = try client ?? ControlClient(path: path)
            client = link
            _ = try link.ask(.indicate(wanted.upload, damage: wanted.damage))
            shown = wanted
        } catch {
            client = nil
            shown = Wish()
            retry = Task { [pause] in
                try? await Task.sleep(for: pause)
                if !Task.isCancelled { self.indicateAgain() }
            }
        }
    }

    /// Whether an attempt to connect is scheduled.
    var isWaiting: Bool { retry != nil }

    private func indicateAgain() {
        retry = nil
        indicate()
    }

    /// The seconds of recording until the recorder's reserve is reached, or nil if no recorder reports them.
    var secondsLeft: Int? {
        guard let status = try? ControlClient(path: path).ask(.status) else { return nil }
        return status["time_left_seconds"]?.double.map { Int($0) }
    }

    /// The sound that the recorder has not stored yet. Asks the recorder on the calling thread.
    nonisolated var recording: SpectraGate.Recording {
        do throws(ControlError) {
            let status = try ControlClient(path: path).ask(.status)
            guard status["state"] == .string(DeckState.recording.rawValue) else { return .none }
            guard let elapsed = status["elapsed_seconds"]?.double, let synced = status["synced_seconds"]?.double else {
                return .unknown
            }
            return .unsynced(seconds: elapsed - synced)
        } catch {
            if case .notRunning = error.cause { return .none }
            return .unknown
        }
    }

    /// Whether the kit's clock is set, as the recorder reports; true without a recorder.
    var isClockSet: Bool {
        guard let status = try? ControlClient(path: path).ask(.status) else { return true }
        return status["clock"] != .string(ClockOrigin.unset.rawValue)
    }
}
