/// What the name of a take's file says, whatever follows its first `.`: `heron07-0042-p2-raw_20261121_103811.wav.part`.
///
/// A later part has the time of its own first frame in its name, and not the stem: `TakeListing` finds the take.
public struct TakeFileName: Hashable, Sendable {
    /// The kit's name.
    public let kit: String
    /// The take's number.
    public let number: Int
    /// When the take began, or this part of it.
    let start: TakeName.Start
    /// Counted from 1.
    public let part: Int
    /// Whether it is the unfiltered twin of a part.
    public let isUnfiltered: Bool

    init(kit: String, number: Int, start: TakeName.Start, part: Int, isUnfiltered: Bool) {
        self.kit = kit
        self.number = number
        self.start = start
        self.part = part
        self.isUnfiltered = isUnfiltered
    }

    /// Reads a name, or returns nil if no take has such a file. By bytes: a card may have hundreds of thousands of files.
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
        // One take, one spelling: a number with needless zeros would be written back differently.
        guard digits.count == 4 || (digits.count > 4 && digits.first != UInt8(ascii: "0")),
            digits.allSatisfy(\.isDigit), let number = Int(Substring(digits)), number <= TakeName.highestNumber,
            TakeName.isKitName(base[..<mark])
        else { return nil }
        self.start = start
        self.number = number
        kit = String(Substring(base[..<mark]))
    }

    /// Parts `-p2` from what it follows.
    private static func part(_ base: Substring.UTF8View) -> (Int, Substring.UTF8View) {
        guard let mark = base.lastIndex(of: .dash) else { return (1, base) }
        let digits = base[mark...].dropFirst(2)
        // One part, one spelling.
        guard base[mark...].dropFirst().first == UInt8(ascii: "p"), !digits.isEmpty, digits.allSatisfy(\.isDigit),
            digits.first != UInt8(ascii: "0"), !digits.elementsEqual("1".utf8)
        else { return (1, base) }
        return (Int(Substring(digits)) ?? .max, base[..<mark])
    }

    /// The name up to its first `.`.
    public var base: String {
        let number = "\(kit)-\(padded(number, 4))"
        let place = (part > 1 ? "-p\(part)" : "") + (isUnfiltered ? "-raw" : "")
        return switch start {
        case .timeOfDay(let time): "\(number)-\(time)Z\(place)"
        case .dated(let stamp): "\(number)\(place)_\(stamp)"
        case .unset: "\(number)\(place)_unset"
        }
    }

    /// The name of the part's audio file, or of its unfiltered twin's.
    public func sibling(isUnfiltered: Bool) -> TakeFileName {
        TakeFileName(kit: kit, number: number, start: start, part: part, isUnfiltered: isUnfiltered)
    }

    /// The take, in the folder `day`, or nil if the name has a later part's time in the place of the take's.
    public func take(in day: String) -> TakeName? {
        isLater ? nil : TakeName(kit: kit, number: number, start: start, day: day)
    }

    /// Whether a file of `take` may have the name. A later part is also one of another take of that kit and number, if there is one.
    public func mayBe(of take: TakeName) -> Bool {
        kit == take.kit && number == take.number && (start == take.start || isLater && take.start.isDated)
    }

    /// Whether the name has the time of a later part, and not the take's.
    var isLater: Bool { part > 1 && start.isDated }
}
