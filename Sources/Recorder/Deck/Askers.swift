import Transport

/// Who waits for the outcome of a command, and how each of them is answered: once.
struct Askers {
    private var completions: [Asker: Deck.Completion] = [:]
    private var last = 0

    mutating func add(_ completion: @escaping Deck.Completion) -> Asker {
        last += 1
        completions[Asker(last)] = completion
        return Asker(last)
    }

    /// Takes the one who waits off the list; nil: none does.
    mutating func remove(_ asker: Asker) -> Deck.Completion? { completions.removeValue(forKey: asker) }
}
