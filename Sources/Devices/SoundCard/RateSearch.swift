/// The rates that are tried on a card. The kernel tests one rate at a time, and reports only the limits of a range.
struct RateSearch {
    /// The rates that the driver lists.
    var stated: Set<Int> = []
    /// The requested rate, or nil for the native one.
    var asked: Int?

    /// The rates of a card, ascending: all known, listed or requested rates that it has, and the limits of its range.
    /// - Parameters:
    ///   - range: the range that is still possible; its limits need not be exact rates.
    ///   - isHardware: false for a plug-in, whose limits do not describe the hardware and count only if it has no other
    ///     rate.
    ///   - has: whether the card has a rate.
    func rates(in range: ClosedRange<Int>, isHardware: Bool, where has: (Int) -> Bool) -> [Int] {
        let ends: Set = [range.lowerBound, range.upperBound]
        func found(_ rates: Set<Int>) -> [Int] { rates.filter { range.contains($0) && has($0) }.sorted() }
        let named = stated.union(Offers.knownRatesHz).union(asked.map { [$0] } ?? [])
        let rates = found(isHardware ? named.union(ends) : named)
        return rates.isEmpty ? found(ends) : rates
    }
}
