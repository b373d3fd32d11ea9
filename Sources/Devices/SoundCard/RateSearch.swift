/// Which rates are tried on a card. The kernel answers for one rate at a time, and reports only the ends of a range.
struct RateSearch {
    /// Rates that the driver lists.
    var stated: Set<Int> = []
    /// The rate that is asked for; nil: native.
    var asked: Int?

    /// The rates that a card has, ascending: of those that are known, listed or asked for, and the ends of its range.
    /// - Parameters:
    ///   - range: what is still possible; its ends need not be exact.
    ///   - isHardware: the ends of a plug-in's range say nothing of the hardware, and count only where it has no other rate.
    ///   - has: whether the card has a rate.
    func rates(in range: ClosedRange<Int>, isHardware: Bool, where has: (Int) -> Bool) -> [Int] {
        let ends: Set = [range.lowerBound, range.upperBound]
        func found(_ rates: Set<Int>) -> [Int] { rates.filter { range.contains($0) && has($0) }.sorted() }
        let named = stated.union(Offers.knownRatesHz).union(asked.map { [$0] } ?? [])
        let rates = found(isHardware ? named.union(ends) : named)
        return rates.isEmpty ? found(ends) : rates
    }
}
