/// What a take's files are called: `heron07-0042-061811Z`, below a folder for the day.
///
/// Names with a date, `heron07-0042_20261121_061811`, and those of takes that began before the clock was set, `heron07-0042_unset`, are read
/// as well: later versions write them.
public struct TakeName: Hashable, Sendable {
    /// The kit's name: a-z, 0-9 and '-'.
    public let kit: String
    /// Counts up over the kit's life and never repeats.
    public let number: Int
    /// When the take began.
    public let start: Start

    /// The folder, `2026-11-21`, or `unset` if the clock was not set.
    public let day: String

    /// When a take or a part of it began, as its name says it.
    public enum Start: Hashable, Sendable {
        /// `061811`, UTC: the name has the time of day alone.
        case timeOfDay(String)
        /// `20261121_061811`.
        case dated(String)
        /// The clock was not set.
        case unset

        /// Reads what follows the first `_` of a name.
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

        /// `20261121_061811`, by which times are ordered; empty if there is no date.
        var stamp: String { if case .dated(let stamp) = self { stamp } else { "" } }
    }

    /// The folder of takes that began before the clock was set.
    public static let unsetDay = "unset"

    /// The highest number that is one: a file that says more was not named by a kit, and must not keep it from counting on.
    public static let highestNumber = 999_999_999_999

    /// A take that begins at `started` by the calendar.
    public init(kit: String, number: Int, started: WallTime) {
        self.init(
            kit: kit, number: number, start: .timeOfDay(started.timeOfDay.split(separator: ":").joined()),
            day: started.date)
    }

    init(kit: String, number: Int, start: Start, day: String) {
        self.kit = kit
        self.number = number
        self.start = start
        self.day = day
    }

    /// Reads a stem, in the folder `day`; nil if it is not one.
    public init?(stem: String, day: String) {
        guard let name = TakeFileName(stem), name.part == 1, !name.isUnfiltered, name.base == stem else { return nil }
        self.init(kit: name.kit, number: name.number, start: name.start, day: day)
    }

    /// `heron07-0042-061811Z`.
    public var stem: String {
        TakeFileName(kit: kit, number: number, start: start, part: 1, isUnfiltered: false).base
    }

    /// The audio file of one part: `heron07-0042-061811Z.wav`, then `heron07-0042-061811Z-p2.wav`; the unfiltered twin is
    /// `heron07-0042-061811Z-raw.wav`, `heron07-0042-061811Z-p2-raw.wav`. In names with a date the marks stand before it.
    public func audioFile(part: Int, isUnfiltered: Bool = false) -> String {
        TakeFileName(kit: kit, number: number, start: start, part: part, isUnfiltered: isUnfiltered).base + ".wav"
    }

    /// Whether a file of the take may have that name; whatever follows its first `.` is left aside (`.wav`, `.json.part.tmp`).
    public func mayOwn(_ file: String) -> Bool { TakeFileName(file)?.mayBe(of: self) ?? false }

    /// Whether `name` may name a folder for a day: `2026-11-21`, `unset`.
    public static func isDay(_ name: String) -> Bool {
        name == unsetDay
            || name.utf8.count == 10
                && name.utf8.enumerated().allSatisfy { $0 == 4 || $0 == 7 ? $1 == .dash : $1.isDigit }
    }

    /// Whether `name` may name a kit.
    public static func isKitName(_ name: String) -> Bool {
        isKitName(name.utf8[...])
    }

    static func isKitName(_ name: Substring.UTF8View) -> Bool {
        !name.isEmpty && name.count <= 64
            && name.allSatisfy { $0.isDigit || ($0 >= 0x61 && $0 <= 0x7a) || $0 == .dash }
    }
}

extension TakeName: Comparable {
    /// By number; takes of several kits may share one.
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
