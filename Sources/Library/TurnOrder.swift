import Takes

/// In which order takes are sent to a store that fails during some of them. Pure: `Sender` reports what happened.
///
/// A take during which the store failed waits until each other one had its turn. Whether the store fails for all takes or for this one is
/// seen only by what happens to others.
struct TurnOrder {
    private struct Failure {
        /// When it failed last, counted in failures of all takes.
        var turn: Int
        /// What had arrived by then.
        var arrivals: Int
        /// How often it failed again after something of others had arrived.
        var overtaken = 0
    }

    private var failures: [TakeIdentity: Failure] = [:]
    private var turn = 0
    private var arrivals = 0
    /// How many takes began while others waited for their next turn.
    private var begun = 0

    /// A take that was overtaken so often, and got no further, waits until no other is left.
    static let mostOvertaken = 3

    /// Whether takes are sent in their own order.
    var isUntroubled: Bool { failures.isEmpty }

    /// The store failed during a take.
    mutating func failed(_ take: TakeIdentity) {
        turn += 1
        var failure = failures[take] ?? Failure(turn: turn, arrivals: arrivals)
        if failure.arrivals < arrivals { failure.overtaken += 1 }
        (failure.turn, failure.arrivals) = (turn, arrivals)
        failures[take] = failure
    }

    /// A file of a take arrived.
    mutating func advanced(_ take: TakeIdentity) {
        arrivals += 1
        failures[take]?.overtaken = 0
    }

    /// A take arrived.
    mutating func succeeded(_ take: TakeIdentity) {
        arrivals += 1
        failures[take] = nil
    }

    /// Chooses what begins.
    /// - Parameters:
    ///   - count: at most so many.
    ///   - waiting: the takes that wait, in their own order.
    ///   - underWay: those that are being sent.
    mutating func next(_ count: Int, of waiting: [TakeIdentity], beside underWay: Set<TakeIdentity>) -> [TakeIdentity] {
        var fresh = waiting.filter { failures[$0] == nil }
        let failed = waiting.compactMap { take in failures[take].map { (take, $0) } }
            .sorted { ($0.1.overtaken, $0.1.turn) < ($1.1.overtaken, $1.1.turn) }
        let isTroubled = !failed.isEmpty || underWay.contains { failures[$0] != nil }
        var chosen: [TakeIdentity] = []
        while chosen.count < count, !fresh.isEmpty {
            chosen.append(fresh.remove(at: isTroubled ? place(in: fresh.count) : 0))
        }
        let others = failed.filter { $0.1.overtaken < Self.mostOvertaken }
        let isAlone =
            chosen.isEmpty && others.isEmpty
            && underWay.allSatisfy { failures[$0].map { $0.overtaken >= Self.mostOvertaken } ?? false }
        return chosen + (isAlone ? failed : others).prefix(count - chosen.count).map(\.0)
    }

    /// Of those that never failed, every second one that begins is from further behind: the first ones may be those that will fail.
    private mutating func place(in count: Int) -> Int {
        defer { begun += 1 }
        guard begun % 2 == 1 else { return 0 }
        // 1/2, 1/4, 3/4, 1/8, 5/8 …: the bits of a count behind the point, in reverse.
        var (rest, fraction, weight) = (begun / 2 + 1, 0.0, 0.5)
        while rest > 0 {
            if rest & 1 == 1 { fraction += weight }
            (rest, weight) = (rest >> 1, weight / 2)
        }
        return Int(fraction * Double(count))
    }
}
