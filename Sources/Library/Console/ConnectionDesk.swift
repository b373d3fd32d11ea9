import NIOCore
import NIOPosix
import Takes

/// Closes the connections of strangers that occupy others' places. Thread-safe.
final class ConnectionDesk: Sendable {
    private let clock: any Clock
    private let kept = Locked(Kept())

    private struct Kept {
        var book = ConnectionBook<ObjectIdentifier>()
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Whether a call of `look` is scheduled.
        var isWatched = false
    }

    /// The interval of the check while there are connections.
    private static let interval = TimeAmount.seconds(1)

    init(clock: any Clock) { self.clock = clock }

    /// Adds a connected browser.
    func came(_ channel: any Channel) {
        let (id, address, now) = (ObjectIdentifier(channel), BrowserAddress(channel.remoteAddress), clock.now())
        close { kept in
            kept.channels[id] = channel
            return kept.book.came(id, from: address, at: now)
        }
        watch()
    }

    /// Notes that the browser sent the head of a request.
    func asked(_ channel: any Channel, isPaired: Bool) {
        kept.withLock { $0.book.asked(ObjectIdentifier(channel), isPaired: isPaired) }
    }

    /// Notes that the browser received its answer.
    func answered(_ channel: any Channel) {
        let now = clock.now()
        kept.withLock { $0.book.answered(ObjectIdentifier(channel), at: now) }
    }

    func left(_ channel: any Channel) {
        kept.withLock { kept in
            kept.book.left(ObjectIdentifier(channel))
            kept.channels[ObjectIdentifier(channel)] = nil
        }
    }

    private func close(_ victims: (inout Kept) -> [ObjectIdentifier]) {
        let channels = kept.withLock { kept in victims(&kept).compactMap { kept.channels.removeValue(forKey: $0) } }
        for channel in channels { channel.close(promise: nil) }
    }

    /// Schedules the check while there are connections.
    private func watch() {
        let isDue = kept.withLock { kept in
            defer { kept.isWatched = !kept.book.isEmpty }
            return !kept.isWatched && !kept.book.isEmpty
        }
        if isDue { MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: Self.interval) { self.look() } }
    }

    private func look() {
        let now = clock.now()
        close { $0.book.overdue(at: now) }
        kept.withLock { $0.isWatched = false }
        watch()
    }
}
