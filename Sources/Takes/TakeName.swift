/// What a take's files are called: `heron07-0042-061811Z`, below a folder for the day.
public struct TakeName: Hashable, Sendable {
    /// The kit's name: a-z, 0-9 and '-'.
    public var kit: String
    /// Counts up over the kit's life and never repeats.
    public var number: Int
    /// When the take began, to the second.
    public var time: String

    /// The folder, `2026-11-21`.
    public var day: String

    /// The highest number that is one: a file that says more was not named by a kit, and must not keep it from counting on.
    public static let highestNumber = 999_999_999_999

    /// A take that begins at `started` by the calendar.
    public init(kit: String, number: Int, started: WallTime) {
        self.kit = kit
        self.number = number
        self.time = started.timeOfDay.split(separator: ":").joined()
        self.day = started.date
    }

    /// Reads a stem, in the folder `day`; nil if it is not one.
    public init?(stem: String, day: String) {
        self.init(stem: stem.utf8[...], day: day)
    }

    /// Reads the name of any file of a take, finished or not, in the folder `day`: whatever follows the stem is
    /// left aside (`.wav`, `-p2-raw.wav.part`, `.json.part.tmp`); nil if it begins with no stem.
    public init?(file: String, day: String) {
        self.init(stem: TakeFile.Base(file).stem, day: day)
    }

    /// By bytes: a card may have hundreds of thousands of files.
    private init?(stem: Substring.UTF8View, day: String) {
        guard let timeMark = stem.lastIndex(of: .dash), let numberMark = stem[..<timeMark].lastIndex(of: .dash) else {
            return nil
        }
        let time = stem[timeMark...].dropFirst()
        guard time.count == 7, time.last == UInt8(ascii: "Z"), time.dropLast().allSatisfy(\.isDigit) else { return nil }
        let digits = stem[numberMark..<timeMark].dropFirst()
        // One take, one spelling: a number with needless zeros would be written back differently.
        guard digits.count == 4 || (digits.count > 4 && digits.first != UInt8(ascii: "0")),
            digits.allSatisfy(\.isDigit), let number = Int(Substring(digits)), number <= Self.highestNumber
        else { return nil }
        let kit = stem[..<numberMark]
        guard Self.isKitName(kit) else { return nil }
        self.kit = String(Substring(kit))
        self.number = number
        self.time = String(Substring(time.dropLast()))
        self.day = day
    }

    /// `heron07-0042-061811Z`.
    public var stem: String {
        "\(kit)-\(padded(number, 4))-\(time)Z"
    }

    /// The audio file of one part: `STEM.wav`, then `STEM-p2.wav`; the unfiltered twin is `STEM-raw.wav`, `STEM-p2-raw.wav`.
    public func audioFile(part: Int, isUnfiltered: Bool = false) -> String {
        stem + (part > 1 ? "-p\(part)" : "") + (isUnfiltered ? "-raw" : "") + ".wav"
    }

    /// Whether `name` may name a folder for a day: `2026-11-21`.
    public static func isDay(_ name: String) -> Bool {
        name.utf8.count == 10
            && name.utf8.enumerated().allSatisfy { $0 == 4 || $0 == 7 ? $1 == .dash : $1.isDigit }
    }

    /// Whether `name` may name a kit.
    public static func isKitName(_ name: String) -> Bool {
        isKitName(name.utf8[...])
    }

    private static func isKitName(_ name: Substring.UTF8View) -> Bool {
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
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }
}
