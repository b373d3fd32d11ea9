/// How late stamps have been of late, beyond the earliest ones: what a loss must be told from.
struct Lateness {
    /// Stamps by lateness: each bin reaches a fifth further than the one before.
    private var bins = [Double](repeating: 0, count: Self.binCount)
    private var total = 0.0
    private var longestSpell = 0.0
    private var highestSpell = 0.0
    private var spellAt = 0.0

    private static let binCount = 64
    private static let firstBin = 0.05
    private static let memory = 8192.0
    static let leastPatience = 0.9
    private static let mostPatience = 10.0
    /// A spell counts half after so long.
    private static let spellSeconds = 600.0

    /// A stamp was so many milliseconds late.
    mutating func note(_ milliseconds: Double) {
        bins[Self.bin(milliseconds)] += 1
        total += 1
        guard total >= Self.memory else { return }
        total /= 2
        for index in bins.indices { bins[index] /= 2 }
    }

    private static func bin(_ milliseconds: Double) -> Int {
        var bin = 0
        var edge = firstBin
        while milliseconds >= edge, bin < binCount - 1 {
            bin += 1
            edge *= 1.2
        }
        return bin
    }

    /// How many of all stamps were that late: a share above 0 and up to 1.
    func share(over milliseconds: Double) -> Double {
        (bins[Self.bin(milliseconds)...].reduce(0, +) + 1) / (total + 1)
    }

    /// All stamps of a spell were late, by so many milliseconds or more, and then one was not.
    mutating func noteSpell(of milliseconds: Double, seconds: Double, at second: Double) {
        guard seconds > 0.4, seconds >= spell(at: second) else { return }
        highestSpell = max(milliseconds, highestSpell * spell(at: second) / max(longestSpell, seconds))
        longestSpell = seconds
        spellAt = second
    }

    private func spell(at second: Double) -> Double {
        longestSpell / (1 + max(0, second - spellAt) / Self.spellSeconds)
    }

    /// How long stamps must be so late to be more than that.
    func patienceSeconds(at second: Double, against milliseconds: Double) -> Double {
        guard milliseconds < 2 * highestSpell else { return Self.leastPatience }
        return min(max(Self.leastPatience, 1.5 * spell(at: second)), Self.mostPatience)
    }

    /// Another line counts its seconds anew.
    mutating func beginLine() {
        spellAt = 0
    }
}
