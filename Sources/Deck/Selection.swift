import Takes
import Transport

/// The finished takes, by number, and the one that play would play.
struct Selection {
    private(set) var takes: [TakeName]
    private var index: Int?

    /// Selects the newest.
    init(takes: [TakeName] = []) {
        self.takes = takes.sorted { $0.number < $1.number }
        index = takes.isEmpty ? nil : takes.count - 1
    }

    var selected: TakeName? { index.map { takes[$0] } }

    /// Selects the take `steps` further on.
    /// - Returns: whether it moved; at either end it does not.
    mutating func move(by steps: Int) -> Bool {
        guard let index, takes.indices.contains(index + steps) else { return false }
        self.index = index + steps
        return true
    }

    /// Adds a take that was just finished, and selects it.
    mutating func add(_ take: TakeName) {
        takes.removeAll { $0.stem == take.stem }
        takes.append(take)
        takes.sort { $0.number < $1.number }
        index = takes.firstIndex(of: take)
    }

    /// Adds a take that was recovered. It is selected if the last one was, and it comes after that.
    mutating func insert(_ take: TakeName) {
        let before = selected
        let wasLast = index == takes.indices.last
        add(take)
        if let before, !(wasLast && takes.last == take) { select(before) }
    }

    mutating func remove(_ take: TakeName) {
        guard let position = takes.firstIndex(of: take) else { return }
        takes.remove(at: position)
        guard let index else { return }
        self.index = takes.isEmpty ? nil : min(index > position ? index - 1 : index, takes.count - 1)
    }

    mutating func select(_ take: TakeName) {
        index = takes.firstIndex(of: take)
    }

    func find(_ reference: TakeReference) -> TakeName? {
        reference == .last ? takes.last : takes.last(where: reference.names)
    }
}
