/// The offsets of a time zone, from a file of the time zone database (TZif, RFC 9636).
public struct ZoneRules: Hashable, Sendable {
    /// When the offset changes, in seconds since 1970, in order.
    private var times: [Int64] = []
    /// Seconds ahead of UTC before the first time, and from each time on.
    private var offsets: [Int64]
    /// For times after the last one, or nil if the last offset stays.
    private var yearly: YearlyRules?

    /// Reads the bytes of a file, or returns nil if they are damaged or of version 1.
    public init?(_ bytes: [UInt8]) {
        // The first block has times of 32 bits, the second one times of 64 bits.
        guard let short = Block(bytes, at: 0, timeBytes: 4), short.version >= UInt8(ascii: "2"),
            let block = Block(bytes, at: short.end, timeBytes: 8)
        else { return nil }
        offsets = []
        var place = block.start
        for index in 0..<block.timeCount { times.append(Self.number(bytes, place + 8 * index, 8)) }
        place += 8 * block.timeCount
        let kinds = bytes[place..<place + block.timeCount].map(Int.init)
        place += block.timeCount
        func offset(_ kind: Int) -> Int64? {
            kind < block.typeCount ? Self.number(bytes, place + 6 * kind, 4) : nil
        }
        let found = ([0] + kinds).map(offset)
        guard found.allSatisfy({ $0.map { $0.magnitude < 100_000 } ?? false }), times == times.sorted() else {
            return nil
        }
        offsets = found.compactMap(\.self)
        let footer = bytes[block.end...].split(separator: 0x0a).first ?? []
        yearly = YearlyRules(String(decoding: footer, as: UTF8.self))
    }

    /// The seconds that clocks are ahead of UTC.
    /// - Parameter time: seconds since 1970.
    func secondsAhead(at time: Int64) -> Int64 {
        if let yearly, times.last.map({ time >= $0 }) ?? true { return yearly.secondsAhead(at: time) }
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] <= time { low = middle + 1 } else { high = middle }
        }
        return offsets[low]
    }

    /// The places of one block.
    private struct Block {
        let version: UInt8
        /// Of the data.
        let start: Int
        /// After the data.
        let end: Int
        let timeCount: Int
        let typeCount: Int

        init?(_ bytes: [UInt8], at place: Int, timeBytes: Int) {
            guard bytes.count >= place + 44, bytes[place..<place + 4].elementsEqual("TZif".utf8) else { return nil }
            let counts = (0..<6).map { Int(ZoneRules.number(bytes, place + 20 + 4 * $0, 4)) }
            guard counts.allSatisfy({ (0...10_000).contains($0) }), counts[4] > 0 else { return nil }
            version = bytes[place + 4]
            start = place + 44
            (timeCount, typeCount) = (counts[3], counts[4])
            end =
                start + timeCount * (timeBytes + 1) + typeCount * 6 + counts[5] + counts[2] * (timeBytes + 4)
                + counts[1] + counts[0]
            guard end <= bytes.count else { return nil }
        }
    }

    /// A signed number, the highest byte first.
    private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int64 {
        let value = bytes[place..<place + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return count == 8 ? Int64(bitPattern: value) : Int64(Int32(truncatingIfNeeded: value))
    }
}

/// The rules that hold each year, from the last line of a file: `CET-1CEST,M3.5.0,M10.5.0/3` (POSIX `TZ`).
struct YearlyRules: Hashable, Sendable {
    /// Seconds ahead of UTC.
    private let standard: Int64
    /// Nil for a zone whose clocks do not change.
    private let summer: Summer?

    private struct Summer: Hashable {
        var ahead: Int64
        var begin: Rule
        var end: Rule
    }

    /// A time of a year.
    fileprivate struct Rule: Hashable {
        var month: Int
        /// 5 for the last one of the month.
        var week: Int
        var weekday: Int
        /// Seconds after midnight.
        var time: Int64
    }

    /// Nil for an empty text, and for rules in another form, which the database does not have.
    init?(_ text: String) {
        var rest = text.utf8[...]
        guard Self.skipName(&rest), let west = Self.time(&rest) else { return nil }
        standard = -west
        guard !rest.isEmpty else {
            summer = nil
            return
        }
        guard Self.skipName(&rest) else { return nil }
        let ahead = rest.first == UInt8(ascii: ",") ? standard + 3600 : Self.time(&rest).map { -$0 }
        guard let ahead, let begin = Self.rule(&rest), let end = Self.rule(&rest), rest.isEmpty else { return nil }
        summer = Summer(ahead: ahead, begin: begin, end: end)
    }

    func secondsAhead(at time: Int64) -> Int64 {
        guard let summer else { return standard }
        let day = Int((time + standard) / 86_400) - (time + standard < 0 ? 1 : 0)
        let year = CalendarDay(number: day).year
        let begin = summer.begin.seconds(in: year) - standard
        let end = summer.end.seconds(in: year) - summer.ahead
        let isSummer = begin < end ? begin <= time && time < end : begin <= time || time < end
        return isSummer ? summer.ahead : standard
    }

    /// Letters, or any text in angle brackets.
    private static func skipName(_ rest: inout Substring.UTF8View) -> Bool {
        let start = rest.startIndex
        if rest.first == UInt8(ascii: "<") {
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
            rest = rest[rest.index(after: end)...]
        } else {
            rest = rest.drop { (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) }
        }
        return rest.startIndex != start
    }

    private static func digits(_ rest: inout Substring.UTF8View) -> Int64? {
        let found = rest.prefix(4).prefix(while: \.isDigit)
        rest = rest.dropFirst(found.count)
        return found.isEmpty ? nil : found.reduce(0) { $0 * 10 + Int64($1) - 0x30 }
    }

    private static func skip(_ character: UInt8, _ rest: inout Substring.UTF8View) -> Bool {
        guard rest.first == character else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// `-1`, `+05:30`, `167`, in seconds.
    private static func time(_ rest: inout Substring.UTF8View) -> Int64? {
        let isNegative = skip(.dash, &rest)
        if !isNegative { _ = skip(UInt8(ascii: "+"), &rest) }
        guard let hours = digits(&rest) else { return nil }
        var seconds = hours * 3600
        for unit in [60, 1] as [Int64] where skip(UInt8(ascii: ":"), &rest) {
            guard let part = digits(&rest) else { return nil }
            seconds += part * unit
        }
        return isNegative ? -seconds : seconds
    }

    /// `,M3.5.0/2`.
    private static func rule(_ rest: inout Substring.UTF8View) -> Rule? {
        let point = UInt8(ascii: ".")
        guard skip(UInt8(ascii: ","), &rest), skip(UInt8(ascii: "M"), &rest), let month = digits(&rest),
            skip(point, &rest), let week = digits(&rest), skip(point, &rest), let weekday = digits(&rest),
            (1...12).contains(month), (1...5).contains(week), (0...6).contains(weekday)
        else { return nil }
        var seconds: Int64 = 7200
        if skip(UInt8(ascii: "/"), &rest) {
            guard let found = time(&rest) else { return nil }
            seconds = found
        }
        return Rule(month: Int(month), week: Int(week), weekday: Int(weekday), time: seconds)
    }
}

extension YearlyRules.Rule {
    /// The time of a year by the zone's own clocks, as seconds since 1970 without the offset.
    fileprivate func seconds(in year: Int) -> Int64 {
        guard let first = CalendarDay(year: year, month: month, day: 1) else { return 0 }
        var day = first + ((weekday - first.weekday + 7) % 7 + 7 * (week - 1))
        if day.month != month { day = day + -7 }
        return Int64(day.number) * 86_400 + time
    }
}
