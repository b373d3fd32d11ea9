import Catalog

/// The order in which parcels are sent to a store that fails during some of them. Pure: `Sender` reports the events.
///
/// A parcel during which the store failed waits until each other parcel had its turn. Only the result of other parcels
/// shows whether the store fails for all of them or for this one.
struct TurnOrder {
    private struct Failure {
        /// The time of its last failure, counted in failures of all parcels.
        var turn: Int
        /// The number of arrivals at that time.
        var arrivals: Int
        /// The number of its repeated failures with arrivals of other parcels in between.
        var overtaken = 0
    }

    private var failures: [ParcelID: Failure] = [:]
    private var turn = 0
    private var arrivals = 0
    /// The number of parcels begun while others waited for their next turn.
    private var begun = 0

    /// A parcel that was overtaken this many times without progress waits until no other parcel is left.
    static let mostOvertaken = 3

    /// Whether parcels are sent in their own order.
    var isUntroubled: Bool { failures.isEmpty }

    mutating func failed(_ parcel: ParcelID) {
        turn += 1
        var failure = failures[parcel] ?? Failure(turn: turn, arrivals: arrivals)
        if failure.arrivals < arrivals { failure.overtaken += 1 }
        (failure.turn, failure.arrivals) = (turn, arrivals)
        failures[parcel] = failure
    }

    /// A file of a parcel arrived.
    mutating func advanced(_ parcel: ParcelID) {
        arrivals += 1
        failures[parcel]?.overtaken = 0
    }

    /// The whole parcel arrived.
    mutating func succeeded(_ parcel: ParcelID) {
        arrivals += 1
        failures[parcel] = nil
    }

    /// Chooses the parcels to begin.
    /// - Parameters:
    ///   - count: the largest number to choose.
    ///   - waiting: the waiting parcels in their own order.
    ///   - underWay: the parcels being sent.
    mutating func next(_ count: Int, of waiting: [ParcelID], beside underWay: Set<ParcelID>) -> [ParcelID] {
        var fresh = waiting.filter { failures[$0] == nil }
        let failed = waiting.compactMap { parcel in failures[parcel].map { (parcel, $0) } }
            .sorted { ($0.1.overtaken, $0.1.turn) < ($1.1.overtaken, $1.1.turn) }
        let isTroubled = !failed.isEmpty || underWay.contains { failures[$0] != nil }
        var chosen: [ParcelID] = []
        while chosen.count < count, !fresh.isEmpty {
            chosen.append(fresh.remove(at: isTroubled ? place(in: fresh.count) : 0))
        }
        let others = failed.filter { $0.1.overtaken < Self.mostOvertaken }
        let isAlone =
            chosen.isEmpty && others.isEmpty
            && underWay.allSatisfy { failures[$0].map { $0.overtaken >= Self.mostOvertaken } ?? false }
        return chosen + (isAlone ? failed : others).prefix(count - chosen.count).map(\.0)
    }

    /// The index of the next parcel among those that never failed. Every second one is taken from further back, because
    /// the first ones may be those that will fail.
    private mutating func place(in count: Int) -> Int {
        defer { begun += 1 }
        guard begun % 2 == 1 else { return 0 }
        // 1/2, 1/4, 3/4, 1/8, 5/8 …: the bits of a counter, reversed after the binary point (van der Corput sequence).
        var (rest, fraction, weight) = (begun / 2 + 1, 0.0, 0.5)
        while rest > 0 {
            if rest & 1 == 1 { fraction += weight }
            (rest, weight) = (rest >> 1, weight / 2)
        }
        return Int(fraction * Double(count))
    }
}
