/// The name of a take's files, `heron07-0042_20261121_061811`, and the folder of its day.
///
/// The stem never changes after the take's start. Takes of version 0.1 have another form, `heron07-0042-061811Z`.
public struct TakeName: Hashable, Sendable {
    /// The kit's name: a-z, 0-9 and '-'.
    public let kit: String
    /// Increases over the kit's life and never repeats.
    public let number: Int
    public let start: Start

    /// The folder: `2026-11-21`, or `unset` if the clock was not set.
    public let day: String

    /// The start of a take or of a part, in its name.
    public enum Start: Hashable, Sendable {
        /// `061811`, UTC. Version 0.1 wrote the time of day alone.
        case timeOfDay(String)
        /// `20261121_061811`.
        case dated(String)
        case unset

        /// Reads the text after the first `_` of a name.
        init?(_ text: Substring.UTF8View) {
            if text.elementsEqual("unset".utf8) {
                self = .unset
            } else if text.count == 15,
                text.enumerated().allSatisfy({ $0 == 8 ? $1 == .underscore : $1.isDigit })
            {
                self = .dated(String(Substring(text)))
            } else {
                return nil
            }
        }

        var isDated: Bool { stamp != "" }

        /// `20261121_061811`, which sorts by time, or empty without a date.
        var stamp: String { if case .dated(let stamp) = self { stamp } else { "" } }
    }

    /// The folder of takes that began before the clock was set.
    public static let unsetDay = "unset"

    /// The highest valid number. A file with a higher number was not named by a kit, and must not stop the kit from
    /// counting on.
    public static let highestNumber = 999_999_999_999

    /// A take that begins at the calendar time `started`, or nil if the clock is not set.
    public init(kit: String, number: Int, started: WallTime?, nameTime: NameTime = .utc) {
        self.init(
            kit: kit, number: number, start: started.map { .dated(nameTime.stamp(of: $0)) } ?? .unset,
            day: Self.day(of: started, nameTime))
    }

    /// The folder of a take that begins at `started`, or nil if the clock is not set.
    public static func day(of started: WallTime?, _ nameTime: NameTime) -> String {
        started.map(nameTime.day) ?? unsetDay
    }

    init(kit: String, number: Int, start: Start, day: String) {
        self.kit = kit
        self.number = number
        self.start = start
        self.day = day
    }

    /// Reads a stem in the folder `day`. Returns nil for any other text.
    public init?(stem: String, day: String) {
        guard let name = TakeFileName(stem), name.part == 1, !name.isUnfiltered, name.base == stem else { return nil }
        self.init(kit: name.kit, number: name.number, start: name.start, day: day)
    }

    /// `heron07-0042_20261121_061811`.
    public var stem: String {
        TakeFileName(kit: kit, number: number, start: start, part: 1, isUnfiltered: false).base
    }

    /// The audio file of one part: `heron07-0042_20261121_061811.wav`, then `heron07-0042-p2_20261121_101811.wav`. The
    /// unfiltered twins are `heron07-0042-raw_20261121_061811.wav` and `heron07-0042-p2-raw_20261121_101811.wav`.
    /// - Parameter started: the sampling time of the part's first frame, or nil for the take's start. Only the names of
    ///   later parts of a dated take contain it.
    public func audioFile(
        part: Int, isUnfiltered: Bool = false, started: WallTime? = nil, nameTime: NameTime = .utc
    ) -> String {
        let own = part > 1 && start.isDated ? started.map { Start.dated(nameTime.stamp(of: $0)) } : nil
        return TakeFileName(
            kit: kit, number: number, start: own ?? start, part: part, isUnfiltered: isUnfiltered
        ).base + ".wav"
    }

    /// Whether a file of the take may have this name. The text after its first `.` is ignored (`.wav`,
    /// `.json.part.tmp`).
    public func mayOwn(_ file: String) -> Bool { TakeFileName(file)?.mayBe(of: self) ?? false }

    /// Whether `name` is valid for the folder of a day: `2026-11-21`, `unset`.
    public static func isDay(_ name: String) -> Bool {
        name == unsetDay
            || name.utf8.count == 10
                && name.utf8.enumerated().allSatisfy { $0 == 4 || $0 == 7 ? $1 == .dash : $1.isDigit }
    }

    /// Whether `name` is valid for a kit.
    public static func isKitName(_ name: String) -> Bool {
        isKitName(name.utf8[...])
    }

    static func isKitName(_ name: Substring.UTF8View) -> Bool {
        !name.isEmpty && name.count <= 64
            && name.allSatisfy { $0.isDigit || ($0 >= 0x61 && $0 <= 0x7a) || $0 == .dash }
    }
}

extension TakeName: Comparable {
    /// By number, then by day and stem, since takes of several kits may share a number.
    public static func < (left: TakeName, right: TakeName) -> Bool {
        if left.number != right.number { return left.number < right.number }
        return (left.day, left.stem) < (right.day, right.stem)
    }
}

extension UInt8 {
    static var dash: UInt8 { UInt8(ascii: "-") }
    static var underscore: UInt8 { UInt8(ascii: "_") }
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }
}
