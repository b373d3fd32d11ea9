public import Takes

/// The waveform of live sound, from the thread that filters it to the one that shows it.
public final class LivePixels: Sendable {
    private let state = Locked(State.unwanted)

    private enum State {
        case unwanted
        /// Somebody draws; no card is open.
        case waiting
        case drawing(StreamFormat, first: Int, data: [Int8])
    }

    /// The most bytes that wait; of more the oldest go.
    private static let mostBytes = 1 << 20

    /// A waveform that nobody asked for yet.
    public init() {}

    /// Whether somebody draws it.
    package var isWanted: Bool {
        state.withLock { if case .unwanted = $0 { false } else { true } }
    }

    /// Somebody draws it from now on, or nobody does any more.
    /// - Returns: whether that is a change.
    public func want(_ isWanted: Bool) -> Bool {
        guard isWanted != self.isWanted else { return false }
        state.withLock { $0 = isWanted ? .waiting : .unwanted }
        return true
    }

    /// The pixels since the last call, with the number of the first: least and greatest of each channel, in 1/128 of full scale, for
    /// `SignalPath.framesPerPixel` frames each. Nil while no card is open.
    public func take() -> (format: StreamFormat, first: Int, data: [Int8])? {
        state.withLock { state in
            guard case .drawing(let format, let first, let data) = state else { return nil }
            state = .drawing(format, first: first + data.count / (2 * format.channels), data: [])
            return (format, first, data)
        }
    }

    func begin(_ format: StreamFormat) {
        state.withLock { if case .waiting = $0 { $0 = .drawing(format, first: 0, data: []) } }
    }

    func append(_ peaks: [Int8]) {
        state.withLock { state in
            guard case .drawing(let format, var first, var data) = state else { return }
            state = .waiting
            data += peaks
            if data.count > Self.mostBytes {
                first += data.count / (2 * format.channels)
                data = []
            }
            state = .drawing(format, first: first, data: data)
        }
    }

    func end() {
        state.withLock { if case .drawing = $0 { $0 = .waiting } }
    }
}
