import Spectra
import Takes
import Workers

/// The live spectrogram for all phones that watch it. One thread reads the recorder's sound socket and computes the
/// columns while anybody watches.
final class LiveSpectrum: Sendable {
    /// The recorder's sound socket.
    let path: String
    private let clock: any Clock
    private let state = Locked(State())

    private struct State {
        var seats: [Int: Seat] = [:]
        var lastID = 0
        var link = Link.none
    }

    /// A phone that watches.
    private struct Seat {
        var stage = Stage.waiting
        /// Wakes the phone's task.
        let signal: AsyncStream<Void>.Continuation

        enum Stage {
            /// The head of the answer is not fetched yet.
            case waiting
            /// The number of the next record.
            case reading(next: Int)
            case ended(LiveSocket.Failure)
        }

        var isWatching: Bool {
            if case .ended = stage { false } else { true }
        }
    }

    private enum Link {
        /// No phone watches, so no thread runs.
        case none
        /// The thread connects, or waits for a column.
        case starting
        case streaming(HeldColumns)

        mutating func append(_ records: [UInt8], _ format: ColumnFormat) {
            switch self {
            case .streaming(var held):
                // Releases the other reference, so that nothing is copied.
                self = .starting
                held.append(records)
                self = .streaming(held)
            case .none, .starting:
                var held = HeldColumns(format)
                held.append(records)
                self = .streaming(held)
            }
        }
    }

    private enum Fetched {
        case bytes([UInt8])
        case nothing
        case ended(LiveSocket.Failure)
    }

    /// After this time without sound the spectrogram ends: the card was closed, or a take is played.
    static let longestSilence = Duration.seconds(3)
    /// The size of a piece of an answer.
    private static let pieceByteCount = 64 << 10

    init(path: String, clock: any Clock = SystemClock()) {
        self.path = path
        self.clock = clock
    }

    /// Watches until the watcher is released.
    /// - Throws: `ThreadError` if no thread can be started.
    func watch() throws(ThreadError) -> Watcher {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (id, mustStart) = state.withLock { state in
            state.lastID += 1
            state.seats[state.lastID] = Seat(signal: signal)
            guard case .none = state.link else { return (state.lastID, false) }
            state.link = .starting
            return (state.lastID, true)
        }
        let watcher = Watcher(self, id, signals)
        guard mustStart else { return watcher }
        do throws(ThreadError) {
            _ = try Thread(name: "spectrum") { self.run() }
        } catch {
            end(LiveSocket.Failure(description: error.description))
            throw error
        }
        return watcher
    }

    private func run() {
        do throws(LiveSocket.Failure) {
            try read()
        } catch {
            end(error)
        }
    }

    /// Reads until nobody watches.
    private func read() throws(LiveSocket.Failure) {
        var connection = try SoundConnection(path: path)
        var messages = SoundMessages()
        var columns = LiveColumns()
        var last = clock.now()
        while isWatched {
            try connection.receive(into: &messages)
            while let message = try messages.next() {
                if case .sound = message { last = clock.now() }
                let records = try columns.take(message)
                guard !records.isEmpty, let format = columns.format else { continue }
                state.withLock { state in
                    state.link.append(records, format)
                    for seat in state.seats.values { seat.signal.yield() }
                }
            }
            guard clock.now() - last <= Self.longestSilence else {
                throw LiveSocket.Failure(description: "no card is open, or a take is played")
            }
        }
    }

    /// Whether anybody watches. If not, the thread must end, and the next watcher starts another one.
    private var isWatched: Bool {
        state.withLock { state in
            let isWatched = state.seats.values.contains(where: \.isWatching)
            if !isWatched { state.link = .none }
            return isWatched
        }
    }

    private func end(_ failure: LiveSocket.Failure) {
        state.withLock { state in
            state.link = .none
            for id in Array(state.seats.keys) {
                state.seats[id]?.stage = .ended(failure)
                state.seats[id]?.signal.yield()
            }
        }
    }

    private func fetch(_ id: Int) -> Fetched {
        state.withLock { state in
            guard let seat = state.seats[id] else { return .nothing }
            switch (seat.stage, state.link) {
            case (.ended(let failure), _): return .ended(failure)
            case (.waiting, .streaming(let held)):
                state.seats[id]?.stage = .reading(next: held.first)
                return .bytes(held.head)
            case (.reading(let next), .streaming(let held)):
                let (bytes, end) = held.records(from: next, untilBytes: Self.pieceByteCount)
                state.seats[id]?.stage = .reading(next: end)
                return bytes.isEmpty ? .nothing : .bytes(bytes)
            case (.waiting, .none), (.waiting, .starting), (.reading, .none), (.reading, .starting): return .nothing
            }
        }
    }

    private func leave(_ id: Int) { state.withLock { $0.seats[id] = nil } }

    /// One phone, which watches until its last reference is released. A browser that is gone before its answer begins
    /// therefore leaves no watcher behind.
    final class Watcher: Sendable {
        private let spectrum: LiveSpectrum
        private let id: Int
        private let signals: AsyncStream<Void>

        fileprivate init(_ spectrum: LiveSpectrum, _ id: Int, _ signals: AsyncStream<Void>) {
            self.spectrum = spectrum
            self.id = id
            self.signals = signals
        }

        deinit { spectrum.leave(id) }

        /// The next piece of the answer: first its head, then records. Nil if the task was cancelled.
        /// - Throws: the reason why there is no sound, or no more.
        func next() async throws(LiveSocket.Failure) -> [UInt8]? {
            var signals = signals.makeAsyncIterator()
            while true {
                switch spectrum.fetch(id) {
                case .bytes(let bytes): return bytes
                case .ended(let failure): throw failure
                case .nothing: break
                }
                guard await signals.next() != nil else { return nil }
            }
        }
    }
}
