/// What the kernel says of its clock at one moment.
public struct ClockEvidence: Hashable, Sendable {
    /// Whether it is synchronised now (`adjtimex(2)`).
    public var isSynchronised: Bool
    /// Whether a battery-backed clock set it at boot (`hctosys` of `rtc(4)`).
    public var isSetFromRTC: Bool
    /// How far the calendar is ahead of `CLOCK_MONOTONIC`.
    public var offset: ClockOffset

    /// What was seen at one moment.
    public init(isSynchronised: Bool, isSetFromRTC: Bool, offset: ClockOffset) {
        self.isSynchronised = isSynchronised
        self.isSetFromRTC = isSetFromRTC
        self.offset = offset
    }
}

/// Where the calendar stood when it was last known to be right in this boot, and how that was known.
///
/// The kernel takes back that it is synchronised hours after the last word from the network, or when the service for it ends;
/// the calendar goes on as rightly as a watch does. So it is remembered, for this boot, and holds as long as the calendar
/// stays where it stood: when something else sets it, it is not known to be right; set back, it is as right as it was.
public struct ClockRecord: Hashable, Sendable {
    /// The kernel's `boot_id`, to which the offset belongs.
    public var bootID: String
    /// How it was known; never `.unset`.
    public var origin: ClockOrigin
    /// Where it stood.
    public var offset: ClockOffset

    /// What is remembered.
    public init(bootID: String, origin: ClockOrigin, offset: ClockOffset) {
        self.bootID = bootID
        self.origin = origin
        self.offset = offset
    }

    /// A date that was set by less than this is as right as before: no use of the calendar needs more, a person sets it to a
    /// second, and a leap second is one.
    public static let tolerance = Duration.seconds(2)
    /// What differs by less was read, not set.
    public static let jitter = Duration.milliseconds(1)
    /// How much faster or slower than `CLOCK_MONOTONIC_RAW` the calendar runs at most: the kernel slews by 500 millionths (`adjtimex(2)`),
    /// and a crystal is off by less than 100.
    static let mostSlew = 600e-6

    /// What is known after another reading of the kernel's clock.
    /// - Parameter known: what was known before; what another boot knew counts for nothing.
    /// - Returns: nil if nothing is known; `known` itself where there is nothing new.
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

    /// Where the date comes from while the calendar stands at `offset`.
    ///
    /// A battery-backed clock is trusted while it is not behind the newest take: one with an empty battery starts over.
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
    /// One line for a file: `BOOT-ID ntp 1795241886250000`.
    public var line: String { "\(bootID) \(origin.rawValue) \(offset.microseconds)\n" }

    /// Reads what `line` writes; nil for anything else.
    public init?(line: String) {
        let fields = line.split(separator: " ", omittingEmptySubsequences: false)
        guard fields.count == 3, !fields[0].isEmpty, let origin = ClockOrigin(rawValue: String(fields[1])),
            origin != .unset, fields[2].hasSuffix("\n"), let microseconds = Int64(fields[2].dropLast())
        else { return nil }
        self.init(bootID: String(fields[0]), origin: origin, offset: ClockOffset(microseconds: microseconds))
    }
}
