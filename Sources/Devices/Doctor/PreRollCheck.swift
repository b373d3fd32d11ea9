import Ring
public import Takes

/// Checks whether this machine's memory can hold the requested pre-roll.
public struct PreRollCheck {
    private let preRoll: Duration
    private let format: StreamFormat
    private let memoryBytes: Int

    /// The ring needs this much sound in addition to the pre-roll, for a stall of the storage and for the filter to
    /// settle. With less, pre-roll would be lost at any moment.
    private static let leastBeside = Duration.seconds(2)

    /// - Parameters:
    ///   - format: the format that the card delivers.
    ///   - memoryBytes: the memory of the machine.
    public init(preRoll: Duration, format: StreamFormat, memoryBytes: Int) {
        self.preRoll = preRoll
        self.format = format
        self.memoryBytes = memoryBytes
    }

    /// Why the pre-roll is not possible and which one is, or nil if it is possible.
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
