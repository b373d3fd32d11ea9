import Control
import Glibc
import ServiceLifecycle
import Takes
import Transport
import Workers

/// Reports to the recorder, which has the lamps, how the outbox stands. What is shown there lasts as long as the connection.
actor RecorderLink: ServiceLifecycle.Service {
    private let path: String
    /// How long it waits before it connects again to a recorder that was away.
    private let pause: Duration
    private let executor: ThreadExecutor
    private var client: ControlClient?
    private var shown = Wish()
    private var wanted = Wish()
    /// Connects again; nil: it is connected, or nothing is to be shown.
    private var retry: Task<Void, Never>?
    private nonisolated let latest = Locked(Wish())
    private nonisolated let wishes: AsyncStream<Wish>
    private nonisolated let mailbox: AsyncStream<Wish>.Continuation

    /// What the recorder is to show.
    private struct Wish: Hashable, Sendable {
        var upload = UploadState.idle
        /// The sentence of a fault: takes are damaged; nil: none is.
        var damage: String?
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// - Parameter path: the recorder's socket.
    init(path: String, pause: Duration = .seconds(30)) throws {
        self.path = path
        self.pause = pause
        executor = try ThreadExecutor(name: "recorder")
        (wishes, mailbox) = AsyncStream.makeStream(of: Wish.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Shows how the outbox stands. May be called by any thread.
    nonisolated func show(_ state: UploadState) { show { $0.upload = state } }

    /// Shows that takes are damaged; nil: none is. May be called by any thread.
    nonisolated func show(damage: String?) { show { $0.damage = damage } }

    private nonisolated func show(_ change: (inout Wish) -> Void) {
        // In their order: the last one is the one that holds.
        latest.withLock { wish in
            change(&wish)
            mailbox.yield(wish)
        }
    }

    /// Shows what is wished until the library is to end.
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

    /// Whether the recorder has ended, or has dropped this connection.
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

    /// Whether it waits before it connects again.
    var isWaiting: Bool { retry != nil }

    private func indicateAgain() {
        retry = nil
        indicate()
    }

    /// How long can be recorded until the recorder's reserve is reached, in seconds; nil: no recorder says it.
    var secondsLeft: Int? {
        guard let status = try? ControlClient(path: path).ask(.status) else { return nil }
        return status["time_left_seconds"]?.double.map { Int($0) }
    }

    /// Whether the kit's clock is set, as the recorder knows; without a recorder it is taken to be.
    var isClockSet: Bool {
        guard let status = try? ControlClient(path: path).ask(.status) else { return true }
        return status["clock"] != .string(ClockOrigin.unset.rawValue)
    }
}
