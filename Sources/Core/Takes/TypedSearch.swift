/// What a person types to find takes: the number of a take, a day, or words.
public enum TypedSearch: Hashable, Sendable {
    case number(Int)
    case day(TypedDay)
    case words(String)

    /// A day as a person types it.
    public enum TypedDay: Hashable, Sendable {
        /// Today, or a number of days before.
        case ago(days: Int)
        /// Without a year, the last day of this date that is not in the future.
        case date(year: Int?, month: Int, day: Int)
    }

    /// Reads a text in English, German or Korean: `1055`; `2026-11-27`, `27 Nov`, `Nov 27, 2026`, `27.11.`, `11월 27일`,
    /// `yesterday`, `gestern`, `어제`. Any other text is words.
    public init(_ text: String) {
        let pieces = Self.pieces(of: text)
        if let days = Self.daysAgo(pieces.texts) {
            self = .day(.ago(days: days))
        } else if pieces.texts.count == 1, pieces.others.allSatisfy({ $0 == " " || $0 == "#" }),
            let number = Int(pieces.texts[0]), (1...TakeName.highestNumber).contains(number)
        {
            self = .number(number)
        } else if let date = Self.date(pieces) {
            self = .day(date)
        } else {
            self = .words(text)
        }
    }

    /// A text as runs of digits and of letters, and the other characters.
    private struct Pieces {
        /// In lower case.
        var texts: [String] = []
        var others: Set<Character> = []
    }

    private static func pieces(of text: String) -> Pieces {
        var pieces = Pieces()
        var last: Kind?
        for character in text.lowercased() {
            let kind: Kind? = ("0"..."9").contains(character) ? .digits : character.isLetter ? .letters : nil
            if let kind, kind == last, let run = pieces.texts.popLast() {
                pieces.texts.append(run + String(character))
            } else if kind != nil {
                pieces.texts.append(String(character))
            } else {
                pieces.others.insert(character)
            }
            last = kind
        }
        return pieces
    }

    private enum Kind { case digits, letters }

    private static func daysAgo(_ texts: [String]) -> Int? {
        switch texts {
        case ["today"], ["heute"], ["오늘"]: 0
        case ["yesterday"], ["gestern"], ["어제"]: 1
        default: nil
        }
    }

    private static func date(_ pieces: Pieces) -> TypedDay? {
        let (texts, others) = (pieces.texts, pieces.others)
        func number(_ index: Int) -> Int? { texts[index].utf8.count <= 4 ? Int(texts[index]) : nil }
        func day(_ year: Int?, _ month: Int?, _ day: Int?) -> TypedDay? {
            guard let month, let day, CalendarDay(year: year ?? 2000, month: month, day: day) != nil else { return nil }
            return .date(year: year, month: month, day: day)
        }
        func year(_ index: Int) -> Int? {
            switch texts[index].utf8.count {
            case 2: number(index).map { 2000 + $0 }
            case 4: number(index)
            default: nil
            }
        }
        let isDotted = others.isSubset(of: [".", " "]) && others.contains(".")
        switch texts.count {
        case 2 where isDotted && number(1) != nil: return day(nil, number(1), number(0))
        case 2 where month(texts[1]) != nil: return day(nil, month(texts[1]), number(0))
        case 2 where month(texts[0]) != nil: return day(nil, month(texts[0]), number(1))
        case 3 where texts[0].utf8.count == 4 && others.isSubset(of: ["-", ".", "/", " "]):
            return year(0).flatMap { day($0, number(1), number(2)) }
        case 3 where isDotted && number(1) != nil: return year(2).flatMap { day($0, number(1), number(0)) }
        case 3 where month(texts[1]) != nil: return year(2).flatMap { day($0, month(texts[1]), number(0)) }
        case 3 where month(texts[0]) != nil: return year(2).flatMap { day($0, month(texts[0]), number(1)) }
        case 4 where texts[1] == "월" && texts[3] == "일": return day(nil, number(0), number(2))
        case 6 where texts[1] == "년" && texts[3] == "월" && texts[5] == "일":
            return year(0).flatMap { day($0, number(2), number(4)) }
        default: return nil
        }
    }

    private static let months = [
        ["january", "januar", "jänner"], ["february", "februar"], ["march", "märz", "mrz"], ["april"], ["may", "mai"],
        ["june", "juni"], ["july", "juli"], ["august"], ["september"], ["october", "oktober"], ["november"],
        ["december", "dezember"],
    ]

    /// The month with this name in English or German, or with the first three letters of it or more.
    private static func month(_ text: String) -> Int? {
        guard text.count >= 3 else { return nil }
        return months.firstIndex { $0.contains { $0.hasPrefix(text) } }.map { $0 + 1 }
    }
}

extension TypedSearch.TypedDay {
    /// The day that is meant, or nil if there is none, such as the 29th of February of another year.
    public func resolved(today: CalendarDay) -> CalendarDay? {
        switch self {
        case .ago(let days): return today + -days
        case .date(let year?, let month, let day): return CalendarDay(year: year, month: month, day: day)
        case .date(nil, let month, let day):
            // The next leap year is at most 8 years away.
            return (today.year - 8...today.year).reversed().lazy
                .compactMap { CalendarDay(year: $0, month: month, day: day) }.first { $0 <= today }
        }
    }
}
