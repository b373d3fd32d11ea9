import SeededRandom

/// Makes hostile inputs from valid ones: typing errors, truncation, repetition, nesting, oversize, and disk corruption.
struct Mutator {
    /// Valid inputs.
    let seeds: [[UInt8]]
    /// Words of the inputs' language.
    let words: [[UInt8]]
    /// The maximum length of an input in bytes.
    let longest: Int

    init(seeds: [[UInt8]], words: [String], longest: Int = 96 << 10) {
        self.seeds = seeds
        self.words = (words + Self.common).map { Array($0.utf8) }
        self.longest = longest
    }

    func input(_ random: inout SeededRandom) -> [UInt8] {
        // Occasionally pure noise.
        if random.once(in: 500) { return noise(random.below(300), &random) }
        var bytes = random.pick(seeds)
        for _ in 0..<(1 + random.below(random.once(in: 4) ? 12 : 3)) { mutate(&bytes, &random) }
        if bytes.count > longest { bytes.removeLast(bytes.count - longest) }
        return bytes
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        guard !bytes.isEmpty else { return bytes = noise(random.below(40), &random) }
        let place = random.below(bytes.count)
        let length = 1 + random.below(random.once(in: 8) ? bytes.count : 24)
        let range = place..<min(bytes.count, place + length)
        switch random.below(16) {
        case 0: bytes[place] ^= 1 << UInt8(random.below(8))
        case 1: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 2: bytes.removeSubrange(range)
        case 3: bytes.removeLast(bytes.count - place)
        case 4:
            bytes.replaceSubrange(range, with: [UInt8](repeating: random.once(in: 2) ? 0 : 0xff, count: range.count))
        case 5: bytes.insert(contentsOf: noise(1 + random.below(6), &random), at: place)
        case 6: bytes.insert(contentsOf: random.pick(words), at: place)
        case 7: bytes.replaceSubrange(range, with: random.pick(words))
        case 8:
            let other = random.pick(seeds)
            let start = random.below(other.count)
            bytes.insert(contentsOf: other[start..<min(other.count, start + random.below(400))], at: place)
        case 9: `repeat`(bytes[range], in: &bytes, at: place, &random)
        case 10: nest(in: &bytes, at: place, &random)
        case 11: move(range, in: &bytes, &random)
        case 12, 13: replaceNumber(in: &bytes, near: place, &random)
        case 14: replaceText(in: &bytes, near: place, &random)
        default: replaceLine(in: &bytes, near: place, &random)
        }
    }

    private func noise(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    /// Repeats a piece many times; rarely up to the maximum length.
    private func `repeat`(
        _ piece: ArraySlice<UInt8>, in bytes: inout [UInt8], at place: Int, _ random: inout SeededRandom
    ) {
        let most = random.once(in: 40) ? longest / piece.count : 20
        let count = min(1 + random.below(most), longest / piece.count)
        bytes.insert(contentsOf: repeatElement(piece, count: count).joined(), at: place)
    }

    private func nest(in bytes: inout [UInt8], at place: Int, _ random: inout SeededRandom) {
        let (open, close) = random.pick([
            ("[", "]"), ("{\"a\":", "}"), ("a.", ""), ("{a=", "}"), ("(", ")"), ("[[", "]]"),
        ])
        let depth = 1 + random.below(random.once(in: 20) ? 10_000 : 20)
        bytes.insert(
            contentsOf: (String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)).utf8,
            at: place)
    }

    private func move(_ range: Range<Int>, in bytes: inout [UInt8], _ random: inout SeededRandom) {
        let piece = bytes[range]
        bytes.removeSubrange(range)
        bytes.insert(contentsOf: piece, at: random.below(bytes.count + 1))
    }

    /// Overwrites the next number with a limit value: decimal digits, or four or eight bytes.
    private func replaceNumber(in bytes: inout [UInt8], near place: Int, _ random: inout SeededRandom) {
        func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        if let start = bytes[place...].firstIndex(where: isDigit), !random.once(in: 4) {
            let end = bytes[start...].firstIndex { !isDigit($0) && $0 != UInt8(ascii: ".") } ?? bytes.count
            bytes.replaceSubrange(start..<end, with: random.pick(Self.numbers).utf8)
        } else {
            let value = random.pick(Self.limits)
            for offset in 0..<random.pick([1, 2, 4, 8]) where place + offset < bytes.count {
                bytes[place + offset] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(offset)))
            }
        }
    }

    /// Replaces the text between the next two quotation marks.
    private func replaceText(in bytes: inout [UInt8], near place: Int, _ random: inout SeededRandom) {
        let quote = UInt8(ascii: "\"")
        guard let start = bytes[place...].firstIndex(of: quote), let end = bytes[(start + 1)...].firstIndex(of: quote)
        else { return }
        bytes.replaceSubrange((start + 1)..<end, with: random.pick(words))
    }

    /// Removes, doubles or replaces a line.
    private func replaceLine(in bytes: inout [UInt8], near place: Int, _ random: inout SeededRandom) {
        let newline = UInt8(ascii: "\n")
        let start = bytes[..<place].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let end = bytes[place...].firstIndex(of: newline).map { $0 + 1 } ?? bytes.count
        switch random.below(3) {
        case 0: bytes.removeSubrange(start..<end)
        case 1: bytes.insert(contentsOf: bytes[start..<end], at: start)
        default: bytes.replaceSubrange(start..<end, with: random.pick(words) + [newline])
        }
    }

    private static let numbers = [
        "0", "1", "-1", "2147483647", "2147483648", "4294967295", "4294967296", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "18446744073709551615", "99999999999999999999999", "1e308",
        "1e999",
        "-1e999", "1e-320", "0.1", "1.5", "-0.0", "281474976710656", "9007199254740993", "00", "1e127", "1e128", "nan",
        "inf",
        "768001", "65536", "255",
    ]

    private static let limits: [UInt64] = [
        0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff,
        0x7fff_ffff_ffff_ffff, 0x8000_0000_0000_0000, 0xffff_ffff_ffff_ffff,
    ]

    private static let common = [
        "", "\n", "\r\n", "\0", "\t", "\u{1b}[2J", "\u{202e}", "\u{2028}", "\u{feff}", "\u{0301}\u{0301}\u{0301}",
        "\u{1f3b5}",
        "..", "../", "../../../../etc/passwd", "/", "/etc/passwd", "%s%n", "'", "\"", "\\", "\\u0000", "\\ud800",
        "null", "true",
        "[]", "{}", "[", "]", "{", "}", ",", ":", "=", "#", String(repeating: "x", count: 70_000),
        String(repeating: "9", count: 5000),
    ]
}
