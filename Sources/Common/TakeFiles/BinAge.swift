import FoundationEssentials
public import Takes

/// A moment by all clocks that a kit has.
public struct BinMoment: Sendable {
    var instant: Instant
    var wall: WallTime
    var origin: ClockOrigin
    var bootID: String

    /// A moment.
    /// - Parameters:
    ///   - instant: on `CLOCK_MONOTONIC`.
    ///   - wall: by the calendar.
    ///   - origin: where the calendar's date comes from.
    ///   - bootID: the kernel's `boot_id`, to which the instant belongs.
    public init(_ instant: Instant, wall: WallTime, origin: ClockOrigin, bootID: String) {
        self.instant = instant
        self.wall = wall
        self.origin = origin
        self.bootID = bootID
    }
}

/// How old the bin is: a count of seconds that no setting of the calendar moves, by which takes are emptied from it. It may lag behind
/// the calendar, and never leads.
///
/// Within a boot it counts by `CLOCK_MONOTONIC`. The time between two boots counts whole if both calendars are synchronised over a network;
/// at most a day of it if they are trusted otherwise, since a person may have set a wrong date; and not at all without a date.
struct BinAge: Codable, Hashable {
    /// Seconds since the bin was made.
    private(set) var seconds: Int64
    /// When that was noted, by each clock.
    private var bootID: String
    private var monotonicNs: Int64
    private var utc: String?
    private var clock: ClockOrigin

    /// The most that counts between two boots by a calendar that is not synchronised.
    static let mostBetweenBoots: Int64 = 86400

    enum CodingKeys: String, CodingKey {
        case utc, clock
        case seconds = "age_seconds"
        case bootID = "boot_id"
        case monotonicNs = "monotonic_ns"
    }

    init(seconds: Int64, at moment: BinMoment) {
        self.seconds = seconds
        bootID = moment.bootID
        monotonicNs = moment.instant.nanoseconds
        utc = moment.origin == .unset ? nil : moment.wall.iso8601
        clock = moment.origin
    }

    mutating func advance(to moment: BinMoment) {
        let before = utc.flatMap { WallTime(iso8601: $0) }
        var passed: Int64 = 0
        if bootID == moment.bootID, !bootID.isEmpty {
            passed = max(0, moment.instant.nanoseconds - monotonicNs)
            // Fractions of a second are counted the next time.
            let whole = passed / 1_000_000_000
            guard whole > 0 else {
                // The date became known, or another one.
                if moment.origin != .unset { (utc, clock) = (moment.wall.iso8601, moment.origin) }
                return
            }
            seconds += whole
            monotonicNs += whole * 1_000_000_000
            utc = moment.origin == .unset ? nil : moment.wall.iso8601
            clock = moment.origin
            return
        }
        if let before, clock != .unset, moment.origin != .unset {
            passed = max(0, moment.wall.microseconds - before.microseconds) / 1_000_000
            if clock != .ntp || moment.origin != .ntp { passed = min(passed, Self.mostBetweenBoots) }
        }
        self = BinAge(seconds: seconds + passed, at: moment)
    }

    var bytes: [UInt8] { BinNote.json(self) }

    /// No bin is older: some 30 000 years.
    private static let longestSeconds: Int64 = 1 << 40

    init?(_ bytes: [UInt8]) {
        guard let age = try? JSONDecoder().decode(BinAge.self, from: Data(bytes)),
            (0...Self.longestSeconds).contains(age.seconds), age.monotonicNs >= 0
        else {
            return nil
        }
        self = age
    }
}

/// The bin's note on a take: when the take was deleted, and whether all of it is there.
struct BinNote: Codable, Hashable {
    /// The bin's age then, in seconds.
    var since: Int64
    /// The same as a date for people, ISO 8601 in UTC; nil if the clock was not set.
    var binned: String?
    /// Whether all files of the take were moved there: what is found of it elsewhere later, a person put there. nil: not known.
    var isWhole: Bool?

    enum CodingKeys: String, CodingKey {
        case binned
        case isWhole = "whole"
        case since = "since_age_seconds"
    }

    var bytes: [UInt8] { Self.json(self) }

    init(since: Int64, binned: String?, isWhole: Bool? = nil) {
        self.since = since
        self.binned = binned
        self.isWhole = isWhole
    }

    init?(_ bytes: [UInt8]) {
        guard let note = try? JSONDecoder().decode(BinNote.self, from: Data(bytes)), note.since >= 0 else { return nil }
        self = note
    }

    fileprivate static func json(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Numbers and texts have a JSON form.
        return ((try? encoder.encode(value)).map { Array($0) } ?? []) + [0x0a]
    }
}
