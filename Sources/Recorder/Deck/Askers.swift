import Transport

/// The callers that wait for the outcome of a command. Each is answered once.
struct Askers {
    private var completions: [Asker: Deck.Completion] = [:]
    private var last = 0

    mutating func add(_ completion: @escaping Deck.Completion) -> Asker {
        last += 1
        completions[Asker(last)] = completion
        return Asker(last)
    }

    /// Removes a waiting caller and returns its completion, or nil if it does not wait.
    mutating func remove(_ asker: Asker) -> Deck.Completion? { completions.removeValue(forKey: asker) }
}
