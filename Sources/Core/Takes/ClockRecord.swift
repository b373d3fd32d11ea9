/// The state of the kernel's clock at one moment.
public struct ClockEvidence: Hashable, Sendable {
    /// Whether the clock is synchronised now (`adjtimex(2)`).
    public var isSynchronised: Bool
    /// Whether a battery-backed clock set the calendar at boot (`hctosys` of `rtc(4)`).
    public var isSetFromRTC: Bool
    public var offset: ClockOffset

    public init(isSynchronised: Bool, isSetFromRTC: Bool, offset: ClockOffset) {
        self.isSynchronised = isSynchronised
        self.isSetFromRTC = isSetFromRTC
        self.offset = offset
    }
}

/// The calendar's offset when it was last known to be right in this boot, and the source of that knowledge.
///
/// The kernel clears its synchronised flag hours after the last answer from the network, or when the time service ends.
/// The calendar is still as accurate as a watch. So the record is kept for this boot, and holds while the calendar
/// keeps its offset. After another program sets the calendar, it is not known to be right. If it is set back to this
/// offset, the record holds again.
public struct ClockRecord: Hashable, Sendable {
    /// The kernel's `boot_id` of the boot that the offset belongs to.
    public var bootID: String
    /// The source of the knowledge; never `.unset`.
    public var origin: ClockOrigin
    public var offset: ClockOffset

    public init(bootID: String, origin: ClockOrigin, offset: ClockOffset) {
        self.bootID = bootID
        self.origin = origin
        self.offset = offset
    }

    /// A date that was set by less than this is still right. No use of the calendar needs more precision, a person sets
    /// it to a second, and a leap second is one second.
    public static let tolerance = Duration.seconds(2)
    /// A smaller difference comes from reading the clocks, not from setting them.
    public static let jitter = Duration.milliseconds(1)
    /// The largest difference in speed between the calendar and `CLOCK_MONOTONIC_RAW`: the kernel slews by 500
    /// millionths (`adjtimex(2)`), and a crystal is off by less than 100.
    static let mostSlew = 600e-6

    /// The record after another reading of the kernel's clock.
    /// - Parameter known: the record before the reading. A record of another boot is ignored.
    /// - Returns: nil if nothing is known; `known` if the reading adds nothing.
    public static func after(_ evidence: ClockEvidence, known: ClockRecord?, bootID: String) -> ClockRecord? {
        let known = known.flatMap { $0.bootID == bootID ? $0 : nil }
        if evidence.isSynchronised {
            if let known, known.origin == .ntp, known.offset.distance(to: evidence.offset) < jitter { return known }
            return ClockRecord(bootID: bootID, origin: .ntp, offset: evidence.offset)
        }
        if known == nil, evidence.isSetFromRTC {
            return ClockRecord(bootID: bootID, origin: .rtc, offset: evidence.offset)
        }
        return known
    }

    /// The source of the date while the calendar has this offset.
    ///
    /// A battery-backed clock is trusted unless it is behind the newest take: with an empty battery it starts over.
    /// - Parameters:
    ///   - today: the day by the calendar, `2026-11-21`.
    ///   - newestTake: the day of the newest take.
    public func origin(at offset: ClockOffset, today: String, newestTake: String?) -> ClockOrigin {
        guard offset.distance(to: self.offset) < Self.tolerance else { return .unset }
        if origin == .rtc, let newestTake, newestTake > today { return .unset }
        return origin
    }
}

extension ClockRecord {
    /// One line of a file: `BOOT-ID ntp 1795241886250000`.
    public var line: String { "\(bootID) \(origin.rawValue) \(offset.microseconds)\n" }

    /// Reads a line that `line` wrote. Returns nil for any other text.
    public init?(line: String) {
        let fields = line.split(separator: " ", omittingEmptySubsequences: false)
        guard fields.count == 3, !fields[0].isEmpty, let origin = ClockOrigin(rawValue: String(fields[1])),
            origin != .unset, fields[2].hasSuffix("\n"), let microseconds = Int64(fields[2].dropLast())
        else { return nil }
        self.init(bootID: String(fields[0]), origin: origin, offset: ClockOffset(microseconds: microseconds))
    }
}
