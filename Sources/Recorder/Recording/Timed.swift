import Takes

/// Events of a take that wait for their frames: an event has an instant, and its frame may not be known until later.
struct Timed<Element> {
    private var waiting: [(instant: Instant, element: Element)] = []

    mutating func append(_ element: Element, at instant: Instant) {
        waiting.append((instant, element))
    }

    mutating func change(_ body: (inout Element) -> Void) {
        for index in waiting.indices { body(&waiting[index].element) }
    }

    /// Removes the elements whose frame is known, and returns them in the order in which they were appended.
    /// - Parameter frame: returns the frame of the take at an instant, or nil if it is not known yet.
    mutating func takePlaced(_ frame: (Instant) -> TakeFrame?) -> [(frame: TakeFrame, element: Element)] {
        var placed: [(frame: TakeFrame, element: Element)] = []
        var rest: [(instant: Instant, element: Element)] = []
        for (instant, element) in waiting {
            if let frame = frame(instant) { placed.append((frame, element)) } else { rest.append((instant, element)) }
        }
        waiting = rest
        return placed
    }

    /// The same for elements that stay in force until the next one: an element is never placed before one that was
    /// appended earlier.
    mutating func takePlacedInOrder(_ frame: (Instant) -> TakeFrame?) -> [(frame: TakeFrame, element: Element)] {
        var placed: [(frame: TakeFrame, element: Element)] = []
        while let (instant, element) = waiting.first, let place = frame(instant) {
            placed.append((place, element))
            waiting.removeFirst()
        }
        return placed
    }
}
