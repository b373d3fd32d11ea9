/// The parsed name of a take's file, up to its first `.`: `heron07-0042-p2-raw_20261121_103811.wav.part`.
///
/// The name of a later part contains the time of the part's first frame instead of the take's start. `TakeListing`
/// finds the take of such a part.
public struct TakeFileName: Hashable, Sendable {
    public let kit: String
    public let number: Int
    /// The start of the take, or of this part of it.
    let start: TakeName.Start
    /// Counted from 1.
    public let part: Int
    public let isUnfiltered: Bool

    init(kit: String, number: Int, start: TakeName.Start, part: Int, isUnfiltered: Bool) {
        self.kit = kit
        self.number = number
        self.start = start
        self.part = part
        self.isUnfiltered = isUnfiltered
    }

    /// Reads a name. Returns nil if it is not the name of a take's file. It compares bytes for speed: a card may have
    /// hundreds of thousands of files.
    public init?(_ file: String) {
        var base = file.utf8.prefix { $0 != UInt8(ascii: ".") }
        var start: TakeName.Start?
        if let mark = base.firstIndex(of: .underscore) {
            start = TakeName.Start(base[mark...].dropFirst())
            guard start != nil else { return nil }
            base = base[..<mark]
        }
        isUnfiltered = base.suffix(4).elementsEqual("-raw".utf8)
        if isUnfiltered { base = base.dropLast(4) }
        (part, base) = Self.part(base)
        if start == nil {
            guard let mark = base.lastIndex(of: .dash) else { return nil }
            let time = base[mark...].dropFirst()
            guard time.count == 7, time.last == UInt8(ascii: "Z"), time.dropLast().allSatisfy(\.isDigit) else {
                return nil
            }
            start = .timeOfDay(String(Substring(time.dropLast())))
            base = base[..<mark]
        }
        guard let start, let mark = base.lastIndex(of: .dash) else { return nil }
        let digits = base[mark...].dropFirst()
        // Each take must have exactly one spelling. A number with extra leading zeros would be written back without
        // them.
        guard digits.count == 4 || (digits.count > 4 && digits.first != UInt8(ascii: "0")),
            digits.allSatisfy(\.isDigit), let number = Int(Substring(digits)), number <= TakeName.highestNumber,
            TakeName.isKitName(base[..<mark])
        else { return nil }
        self.start = start
        self.number = number
        kit = String(Substring(base[..<mark]))
    }

    /// Splits `-p2` from the name before it.
    private static func part(_ base: Substring.UTF8View) -> (Int, Substring.UTF8View) {
        guard let mark = base.lastIndex(of: .dash) else { return (1, base) }
        let digits = base[mark...].dropFirst(2)
        // Each part must have exactly one spelling.
        guard base[mark...].dropFirst().first == UInt8(ascii: "p"), !digits.isEmpty, digits.allSatisfy(\.isDigit),
            digits.first != UInt8(ascii: "0"), !digits.elementsEqual("1".utf8)
        else { return (1, base) }
        return (Int(Substring(digits)) ?? .max, base[..<mark])
    }

    /// The name without the first `.` and the text after it.
    public var base: String {
        let number = "\(kit)-\(padded(number, 4))"
        let place = (part > 1 ? "-p\(part)" : "") + (isUnfiltered ? "-raw" : "")
        return switch start {
        case .timeOfDay(let time): "\(number)-\(time)Z\(place)"
        case .dated(let stamp): "\(number)\(place)_\(stamp)"
        case .unset: "\(number)\(place)_unset"
        }
    }

    /// The name of the part's audio file, or of its unfiltered twin.
    public func sibling(isUnfiltered: Bool) -> TakeFileName {
        TakeFileName(kit: kit, number: number, start: start, part: part, isUnfiltered: isUnfiltered)
    }

    /// The take, in the folder `day`, or nil if the name has a later part's time instead of the take's.
    public func take(in day: String) -> TakeName? {
        isLater ? nil : TakeName(kit: kit, number: number, start: start, day: day)
    }

    /// Whether the name may belong to a file of `take`. A later part may belong to any dated take of its kit and
    /// number.
    public func mayBe(of take: TakeName) -> Bool {
        kit == take.kit && number == take.number && (start == take.start || isLater && take.start.isDated)
    }

    /// Whether the name has the time of a later part instead of the take's.
    var isLater: Bool { part > 1 && start.isDated }
}
