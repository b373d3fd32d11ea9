import Ring
public import Takes

/// Whether this machine's memory keeps as much sound from before a press as is asked for.
public struct PreRollCheck {
    private let preRoll: Duration
    private let format: StreamFormat
    private let memoryBytes: Int

    /// What a stall of the storage needs beside the pre-roll, and the filter to settle: less would cost pre-roll at any moment.
    private static let leastBeside = Duration.seconds(2)

    /// - Parameters:
    ///   - format: what the card delivers.
    ///   - memoryBytes: of the machine.
    public init(preRoll: Duration, format: StreamFormat, memoryBytes: Int) {
        self.preRoll = preRoll
        self.format = format
        self.memoryBytes = memoryBytes
    }

    /// How it cannot be met, and what can; nil: it can.
    public var shortage: String? {
        let longest = Ring.duration(format: format, holding: preRoll + Self.leastBeside, memoryBytes: memoryBytes)
        let most = max(.zero, longest - Self.leastBeside)
        guard most < preRoll else { return nil }
        let held = "\(longest.wholeSeconds) s of \(format.summary)"
        return "capture.pre_roll_seconds: \(preRoll.wholeSeconds) cannot be met: "
            + "an eighth of this machine's memory holds \(held): set \(most.wholeSeconds) or less, or record fewer channels or at a lower rate"
    }
}

extension Duration {
    fileprivate var wholeSeconds: Int64 { components.seconds }
}
