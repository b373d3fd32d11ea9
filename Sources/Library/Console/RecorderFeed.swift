import Catalog
import Control
import Takes
import Workers

/// The events of the recorder and the catalog for all watching browsers. It keeps one connection to the recorder while
/// anybody watches.
final class RecorderFeed: Sendable {
    private let path: String
    private let state = Locked(State())
    /// Wakes the thread, which may be waiting for an absent recorder.
    private let wake = Mailbox<Void>()

    private struct State {
        var watchers: [Int: Watcher] = [:]
        var lastID = 0
        var link = Link.none
        /// The first event for a new watcher.
        var standing: FeedEvent?
        /// The number of live listeners.
        var listeners = 0
    }

    private enum Link {
        /// Nobody watches.
        case none
        /// A thread receives events, or tries to connect.
        case running
    }

    /// The pause before it connects again.
    private static let pause = Duration.seconds(2)
    /// The interval of the check whether anybody still watches.
    private static let look = Duration.seconds(1)
    /// A running recorder sends ten events a second. After this silence, a request checks whether it still answers.
    private static let longestSilence = Duration.seconds(2)

    /// - Parameter path: the recorder's socket.
    init(path: String) { self.path = path }

    /// Watches until `end`.
    /// - Throws: `ThreadError` if no thread can be started.
    func watch() throws(ThreadError) -> Watcher {
        let (watcher, mustStart) = state.withLock { state in
            state.lastID += 1
            let watcher = Watcher(id: state.lastID)
            if let standing = state.standing { watcher.post(standing) }
            watcher.post(.listening(state.listeners))
            state.watchers[watcher.id] = watcher
            defer { state.link = .running }
            return (watcher, state.link == .none)
        }
        guard mustStart else { return watcher }
        do throws(ThreadError) {
            _ = try Thread(name: "feed") { self.run() }
        } catch {
            state.withLock { state in
                state.watchers[watcher.id] = nil
                state.link = .none
            }
            throw error
        }
        return watcher
    }

    func end(_ watcher: Watcher) {
        state.withLock { $0.watchers[watcher.id] = nil }
        wake.post(())
    }

    /// Changes the number of live listeners.
    func listen(_ change: Int) {
        state.withLock { state in
            state.listeners += change
            for watcher in state.watchers.values { watcher.post(.listening(state.listeners)) }
        }
    }

    /// Passes on an event that did not come from the recorder.
    func post(_ event: FeedEvent) {
        state.withLock { state in
            if event.isStanding { state.standing = event }
            for watcher in state.watchers.values { watcher.post(event) }
        }
    }

    /// Whether anybody watches. If not, the thread must end, and the next watcher starts another one.
    private var isWatched: Bool {
        state.withLock { state in
            if state.watchers.isEmpty {
                state.link = .none
                state.standing = nil
            }
            return !state.watchers.isEmpty
        }
    }

    private func run() {
        let clock = SystemClock()
        while isWatched {
            do throws(ControlError) {
                let client = try ControlClient(path: path)
                let status = try client.ask(.watch(peaks: true))
                post(.status(Array(status.description.utf8)))
                var last = clock.now()
                while isWatched {
                    if let line = try client.nextEventLine(until: clock.now() + Self.look) {
                        last = clock.now()
                        if let event = FeedEvent(line: line) { post(event) }
                    } else if clock.now() - last > Self.longestSilence {
                        _ = try client.ask(.status)
                        last = clock.now()
                    }
                }
                return
            } catch {
                post(.away(error.description))
            }
            _ = wake.take()
            wake.wait(nanoseconds: Self.pause.nanoseconds)
        }
    }
}

/// An event as a browser receives it.
enum FeedEvent: Sendable {
    /// An object of the recorder, as JSON.
    case status([UInt8])
    case level([UInt8])
    case peaks([UInt8])
    case take([UInt8])
    /// Why the recorder cannot be reached, in one sentence.
    case away(String)
    /// The number of live listeners.
    case listening(Int)
    /// The list of takes changed.
    case catalog(CatalogChange)

    /// Reads a line of the recorder; nil for kinds that are not passed on.
    init?(line: [UInt8]) {
        let head = Array("{\"event\":\"".utf8)
        guard line.starts(with: head) else { return nil }
        let name = line.dropFirst(head.count).prefix { $0 != UInt8(ascii: "\"") }
        switch String(decoding: name, as: UTF8.self) {
        case "status": self = .status(line)
        case "level": self = .level(line)
        case "peaks": self = .peaks(line)
        case "take": self = .take(line)
        default: return nil
        }
    }

    /// Whether the event is valid until another one of this kind comes.
    var isStanding: Bool {
        switch self {
        case .status, .away: true
        case .level, .peaks, .take, .listening, .catalog: false
        }
    }

    /// The event in a stream of server-sent events (WHATWG HTML, 9.2).
    var text: [UInt8] {
        let (name, data): (String, [UInt8]) =
            switch self {
            case .status(let line): ("status", line)
            case .level(let line): ("level", line)
            case .peaks(let line): ("peaks", line)
            case .take(let line): ("take", line)
            case .listening(let count): ("listening", Array("{\"listeners\":\(count)}".utf8))
            case .catalog(let change): ("catalog", Array(change.json.description.utf8))
            case .away(let why): ("away", Array(JSONValue.object(["detail": .string(why)]).description.utf8))
            }
        return Array("event: \(name)\ndata: ".utf8) + data + Array("\n\n".utf8)
    }
}

extension CatalogChange {
    fileprivate var json: JSONValue {
        let (what, take): (String, String?) =
            switch self {
            case .added(let take): ("added", take)
            case .revised(let take): ("revised", take)
            case .removed(let take): ("removed", take)
            case .many: ("many", nil)
            }
        return .object(["what": .string(what), "take": take.map { .string($0) } ?? .null])
    }
}

/// The events for one browser. Events that it does not fetch in time are dropped, oldest first. The last standing event
/// of each kind is kept.
final class Watcher: Sendable {
    let id: Int
    private let pending = Locked(Pending())
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    private struct Pending {
        var standing: FeedEvent?
        var listening: FeedEvent?
        var level: FeedEvent?
        /// Each continues the previous one.
        var peaks: [FeedEvent] = []
        var takes: [FeedEvent] = []
        var catalog: [CatalogChange] = []
        var hasBeat = false
    }

    /// Two seconds of waveform.
    static let mostPeaks = 20
    static let mostTakes = 100

    init(id: Int) {
        self.id = id
        (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func post(_ event: FeedEvent) {
        pending.withLock { pending in
            switch event {
            case .status, .away: pending.standing = event
            case .listening: pending.listening = event
            case .level: pending.level = event
            case .peaks: pending.peaks = Array((pending.peaks + [event]).suffix(Self.mostPeaks))
            case .take: pending.takes = Array((pending.takes + [event]).suffix(Self.mostTakes))
            case .catalog(let change):
                // `many` includes every other change, and replaces them all if there are too many.
                let isLong = change == .many || pending.catalog.count >= Self.mostTakes || pending.catalog == [.many]
                pending.catalog = isLong ? [.many] : pending.catalog + [change]
            }
        }
        signal.yield()
    }

    /// Wakes the watcher without an event.
    func beat() {
        pending.withLock { $0.hasBeat = true }
        signal.yield()
    }

    /// The waiting events, ordered so that each makes sense after the ones before it. Empty after a beat; nil if the
    /// watcher's task was cancelled.
    func next() async -> [FeedEvent]? {
        var signals = signals.makeAsyncIterator()
        while await signals.next() != nil {
            let (events, hasBeat) = pending.withLock { pending in
                defer { pending = Pending() }
                let standing = [pending.standing, pending.listening, pending.level].compactMap(\.self)
                let catalog = pending.catalog.map { FeedEvent.catalog($0) }
                return (standing + pending.peaks + pending.takes + catalog, pending.hasBeat)
            }
            // If an event's signal comes after the event was already fetched with others, there is nothing to return.
            if hasBeat || !events.isEmpty { return events }
        }
        return nil
    }
}
