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
        let fields = stem.split(separator: "-", omittingEmptySubsequences: false)
        guard fields.count >= 3, let time = fields.last, time.count == 7, time.last == "Z",
            time.dropLast().utf8.allSatisfy(\.isDigit)
        else { return nil }
        let digits = fields[fields.count - 2]
        guard digits.count >= 4, digits.utf8.allSatisfy(\.isDigit), let number = Int(digits),
            number <= Self.highestNumber
        else { return nil }
        let kit = fields.dropLast(2).joined(separator: "-")
        guard Self.isKitName(kit) else { return nil }
        self.kit = kit
        self.number = number
        self.time = String(time.dropLast())
        self.day = day
        // One take, one spelling: a number with needless zeros would be written back differently.
        guard self.stem == stem else { return nil }
    }

    /// Reads the name of any file of a take, finished or not, in the folder `day`: whatever follows the stem is
    /// left aside (`.wav`, `-p2-raw.wav.part`, `.json.part.tmp`); nil if it begins with no stem.
    public init?(file: String, day: String) {
        var base = file.prefix { $0 != "." }
        if base.hasSuffix("-raw") { base = base.dropLast(4) }
        if let mark = base.lastIndex(of: "-") {
            let suffix = base[mark...].dropFirst()
            if suffix.first == "p", suffix.count > 1, suffix.dropFirst().utf8.allSatisfy(\.isDigit) {
                base = base[..<mark]
            }
        }
        self.init(stem: String(base), day: day)
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
        let bytes = Array(name.utf8)
        return bytes.count == 10
            && bytes.indices.allSatisfy { $0 == 4 || $0 == 7 ? bytes[$0] == 0x2d : bytes[$0].isDigit }
    }

    /// Whether `name` may name a kit.
    public static func isKitName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 64
            && name.utf8.allSatisfy { $0.isDigit || ($0 >= 0x61 && $0 <= 0x7a) || $0 == 0x2d }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { self >= 0x30 && self <= 0x39 }
}
