/// The times of frames that were given to others. A time that was given once stays: more stamps show the card's line
/// better, but a program that returns with a time must find the frame that it got it for.
///
/// There is a time for the position of each stamp around a given frame. The frames between two stamps are spread evenly.
struct GivenTimes {
    /// In the order of their numbers, and of their times.
    private var entries: [(number: Int64, nanoseconds: Int64)] = []
    private let capacity: Int

    /// - Parameter capacity: the most times that are kept, in stamps.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The time of the stamp with this number, or nil if none was given.
    subscript(number: Int64) -> Int64? {
        let index = entries.partitionPoint { $0.number >= number }
        return index < entries.count && entries[index].number == number ? entries[index].nanoseconds : nil
    }

    /// The last stamp whose given time is at or before a time, or nil if none is.
    func lastNumber(upTo nanoseconds: Int64) -> Int64? {
        let index = entries.partitionPoint { $0.nanoseconds > nanoseconds }
        return index > 0 ? entries[index - 1].number : nil
    }

    /// Keeps the time of a stamp, unless one was given before.
    /// - Returns: the time that holds.
    mutating func keep(_ nanoseconds: Int64, number: Int64) -> Int64 {
        let index = entries.partitionPoint { $0.number >= number }
        if index < entries.count, entries[index].number == number { return entries[index].nanoseconds }
        entries.insert((number, nanoseconds), at: index)
        // Many at once, because the rest moves up.
        if entries.count > capacity { entries.removeFirst(max(1, capacity / 4)) }
        return nanoseconds
    }
}

extension [(number: Int64, nanoseconds: Int64)] {
    /// The index of the first element for which a condition holds that no later element fails.
    fileprivate func partitionPoint(_ holds: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
