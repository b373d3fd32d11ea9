import Takes
import Transport

/// The finished takes, in order, and the selected one.
///
/// There may be 100 000 takes, and the loop waits during each call, so all searches use bisection.
struct Selection {
    private(set) var takes: [TakeName]
    private var index: Int?

    /// Selects the newest take.
    /// - Parameter takes: in order.
    init(takes: [TakeName] = []) {
        self.takes = takes
        index = takes.indices.last
    }

    var selected: TakeName? { index.map { takes[$0] } }

    /// Selects the take `steps` further on.
    /// - Returns: whether the selection moved; at either end it does not.
    mutating func move(by steps: Int) -> Bool {
        guard let index, takes.indices.contains(index + steps) else { return false }
        self.index = index + steps
        return true
    }

    /// Adds a take that was just finished, and selects it.
    mutating func add(_ take: TakeName) {
        if let known = position(of: take) { return index = known }
        let position = takes.partitioningIndex { $0 >= take }
        takes.insert(take, at: position)
        index = position
    }

    /// Adds a recovered take. It is selected only if the last take was selected and the new one comes after it.
    mutating func insert(_ take: TakeName) {
        let before = selected
        let wasLast = index == takes.indices.last
        add(take)
        if let before, !(wasLast && takes.last == take) { select(before) }
    }

    mutating func remove(_ take: TakeName) {
        guard let position = position(of: take) else { return }
        takes.remove(at: position)
        guard let index else { return }
        self.index = takes.isEmpty ? nil : min(index > position ? index - 1 : index, takes.count - 1)
    }

    mutating func select(_ take: TakeName) {
        index = position(of: take)
    }

    /// - Parameter day: the folder of the day that the take must be in, or nil for any.
    func find(_ reference: TakeReference, in day: String? = nil) -> TakeName? {
        switch reference {
        case .last: takes.last
        case .number(let number): takes(numbered: number).last
        case .stem(let stem):
            TakeName(stem: stem, day: "").flatMap { name in
                takes(numbered: name.number).last { reference.names($0) && (day ?? $0.day) == $0.day }
            }
        }
    }

    private func position(of take: TakeName) -> Int? {
        let position = takes.partitioningIndex { $0 >= take }
        return takes.indices.contains(position) && takes[position] == take ? position : nil
    }

    /// Takes of several kits can share a number.
    private func takes(numbered number: Int) -> ArraySlice<TakeName> {
        takes[takes.partitioningIndex { $0.number >= number }...].prefix { $0.number == number }
    }
}

extension Array {
    /// The index of the first element for which `belongsInSecond` is true, by bisection. All such elements must come
    /// last.
    fileprivate func partitioningIndex(where belongsInSecond: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if belongsInSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
