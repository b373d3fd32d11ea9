import FoundationEssentials
public import Takes

/// One moment on every clock of a kit.
public struct BinMoment: Sendable {
    var instant: Instant
    var wall: WallTime
    var origin: ClockOrigin
    var bootID: String

    /// - Parameters:
    ///   - instant: on `CLOCK_MONOTONIC`.
    ///   - wall: the calendar time.
    ///   - origin: the source of the calendar time.
    ///   - bootID: the kernel's `boot_id`, to which the instant belongs.
    public init(_ instant: Instant, wall: WallTime, origin: ClockOrigin, bootID: String) {
        self.instant = instant
        self.wall = wall
        self.origin = origin
        self.bootID = bootID
    }
}

/// The age of the bin: a count of seconds that does not jump when the calendar is set. Takes are deleted from the bin
/// by this age. It may lag behind the calendar and never leads it.
///
/// Within a boot it counts by `CLOCK_MONOTONIC`. The time between two boots counts in full if both calendar times were
/// synchronised over a network. If they are trusted for another reason, at most one day counts, since a person may have
/// set a wrong date. Without a date it does not count.
struct BinAge: Codable, Hashable {
    /// Since the bin was made.
    private(set) var seconds: Int64
    /// When `seconds` was last updated, on each clock.
    private var bootID: String
    private var monotonicNs: Int64
    private var utc: String?
    private var clock: ClockOrigin

    /// The maximum in seconds that counts between two boots by a calendar that is not synchronised.
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
            // The fraction of a second counts at the next call.
            let whole = passed / 1_000_000_000
            guard whole > 0 else {
                // The date may have become known or been corrected.
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

    /// The upper bound for a valid age: about 30 000 years.
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

/// The bin's note on a take: when the take was deleted, and whether all its files are in the bin.
struct BinNote: Codable, Hashable {
    /// The bin's age in seconds when the take was deleted.
    var since: Int64
    /// The same moment as a date for people, ISO 8601 in UTC, or nil if the clock was not set.
    var binned: String?
    /// Whether all files of the take were moved to the bin, or nil if unknown. If they were, a person moved any file
    /// that is found elsewhere later.
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
        // Encoding cannot fail: numbers and texts always have a JSON form.
        return ((try? encoder.encode(value)).map { Array($0) } ?? []) + [0x0a]
    }
}
