import TakeFiles

/// The clock map in the text of a sidecar. The catalog keeps the text and decodes the rest of it: decoding the clock map
/// takes as long as decoding everything else.
enum ClockMapText {
    /// Returns the sidecar with an empty clock map. Nil if the clock map is missing, or differs from the form that
    /// recorders write, which only a decoder can judge.
    static func emptied(in json: [UInt8]) -> [UInt8]? {
        let key = Array("\"clock_map\"".utf8)
        // A quotation mark within a text has a backslash before it, so this is a key, or a text that no colon follows.
        let isKey = { (place: Int) in json[place] == key[0] && json[place...].starts(with: key) }
        guard let start = json.indices.first(where: isKey) else { return nil }
        var reader = ClockMapReader(json, at: start + key.count)
        guard reader.skip(UInt8(ascii: ":")), reader.skip(UInt8(ascii: "[")) else { return nil }
        let list = reader.place
        guard reader.skipPoints() else { return nil }
        return Array(json[..<list] + json[reader.place...])
    }
}

/// Reads a clock map in the form that recorders write: numbers without sign and fraction, and texts of printable ASCII
/// without a backslash.
private struct ClockMapReader {
    private let json: [UInt8]
    private(set) var place: Int

    init(_ json: [UInt8], at place: Int) {
        (self.json, self.place) = (json, place)
    }

    private struct Keys: OptionSet {
        let rawValue: UInt8

        static let frame = Keys(rawValue: 1)
        static let raw = Keys(rawValue: 2)
        static let utc = Keys(rawValue: 4)
        static let error = Keys(rawValue: 8)
        static let monotonic = Keys(rawValue: 16)
        static let required: Keys = [frame, raw, error]
    }

    private var next: UInt8? { place < json.count ? json[place] : nil }

    private mutating func skipSpaces() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { place += 1 }
    }

    /// Skips spaces and a byte.
    /// - Returns: whether the byte was there.
    mutating func skip(_ byte: UInt8) -> Bool {
        skipSpaces()
        guard next == byte else { return false }
        place += 1
        return true
    }

    /// Skips the points, up to the bracket behind the last one.
    /// - Returns: false if one of them has another form, or its frame is not allowed.
    mutating func skipPoints() -> Bool {
        repeat { guard skipPoint() else { return false } } while skip(UInt8(ascii: ","))
        return next == UInt8(ascii: "]")
    }

    private mutating func skipPoint() -> Bool {
        guard skip(UInt8(ascii: "{")) else { return false }
        var keys: Keys = []
        repeat {
            guard let key = readKey(), keys.insert(key).inserted, skip(UInt8(ascii: ":")), skipValue(of: key) else {
                return false
            }
        } while skip(UInt8(ascii: ","))
        return skip(UInt8(ascii: "}")) && keys.isSuperset(of: .required)
    }

    private mutating func readKey() -> Keys? {
        guard skip(UInt8(ascii: "\"")), let first = next else { return nil }
        let (name, key): (StaticString, Keys)
        switch first {
        case UInt8(ascii: "a"): (name, key) = ("at_frame\"", .frame)
        case UInt8(ascii: "r"): (name, key) = ("raw_ns\"", .raw)
        case UInt8(ascii: "u"): (name, key) = ("utc\"", .utc)
        case UInt8(ascii: "e"): (name, key) = ("error_us\"", .error)
        case UInt8(ascii: "m"): (name, key) = ("monotonic_ns\"", .monotonic)
        default: return nil
        }
        return skipWord(name) ? key : nil
    }

    private mutating func skipWord(_ word: StaticString) -> Bool {
        let end = place + word.utf8CodeUnitCount
        // Safe: the text of a StaticString is never freed.
        let bytes = unsafe UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard end <= json.count, unsafe json[place..<end].elementsEqual(bytes) else { return false }
        place = end
        return true
    }

    private mutating func skipValue(of key: Keys) -> Bool {
        skipSpaces()
        return switch key {
        case .utc: next == UInt8(ascii: "n") ? skipWord("null") : skipText()
        case .frame: readNumber().map(SidecarLimits.frames.contains) ?? false
        default: readNumber() != nil
        }
    }

    private mutating func skipText() -> Bool {
        guard skip(UInt8(ascii: "\"")) else { return false }
        while let byte = next, (0x20...0x7e).contains(byte), byte != UInt8(ascii: "\\") {
            place += 1
            if byte == UInt8(ascii: "\"") { return true }
        }
        return false
    }

    /// Reads at most 18 digits, which never overflow. If more digits or a point follow, the value does not end there, and
    /// the map counts as malformed.
    private mutating func readNumber() -> Int64? {
        let start = place
        var number: Int64 = 0
        while let digit = next, (0x30...0x39).contains(digit), place < start + 18 {
            number = number * 10 + Int64(digit - 0x30)
            place += 1
        }
        let hasLeadingZero = place > start + 1 && json[start] == 0x30
        return place > start && !hasLeadingZero ? number : nil
    }
}
