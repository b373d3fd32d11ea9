public import Takes

/// Passes the waveform of live sound from the thread that filters it to the thread that shows it.
public final class LivePixels: Sendable {
    private let state = Locked(State.unwanted)

    private enum State {
        case unwanted
        /// The waveform is wanted, but no card is open.
        case waiting
        case drawing(StreamFormat, first: Int, data: [Int8])
    }

    /// The most bytes that wait. When there are more, all are dropped.
    private static let mostBytes = 1 << 20

    public init() {}

    /// Whether the waveform is displayed.
    package var isWanted: Bool {
        state.withLock { if case .unwanted = $0 { false } else { true } }
    }

    /// Starts or ends the display of the waveform.
    /// - Returns: whether that is a change.
    public func want(_ isWanted: Bool) -> Bool {
        guard isWanted != self.isWanted else { return false }
        state.withLock { $0 = isWanted ? .waiting : .unwanted }
        return true
    }

    /// Returns the pixels since the last call and the number of the first one. A pixel has the least and greatest
    /// sample of each channel, in 1/128 of full scale, for `SignalPath.framesPerPixel` frames. Nil while no card is
    /// open.
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
