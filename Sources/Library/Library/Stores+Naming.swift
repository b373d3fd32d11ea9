import Takes
import Transport
import Upload

/// Finds stores by their names in requests and receipts.
extension Stores {
    /// - Parameter name: the name or its beginning, or nil for the only store.
    func store(named name: String?) throws(Refusal) -> any Store {
        let all = all.map(\.store.name) + problems.map(\.name)
        let found = name.map { name in all.contains(name) ? [name] : all.filter { $0.hasPrefix(name) } } ?? all
        guard found.count == 1 else {
            let names = all.joined(separator: ", ")
            if all.isEmpty { throw Refusal(.notFound, "remote: no store is named: [outbox] store") }
            throw Refusal(
                .usage, "remote: \(found.isEmpty ? "there is no such store" : "name a store"): there are \(names)")
        }
        return try usable(found[0]) { Refusal(.internal, "remote: \(found[0]) is not open") }
    }

    /// Finds the store of a receipt.
    /// - Parameter take: the take of the receipt.
    func store(noted name: String, _ take: TakeName) throws(Refusal) -> any Store {
        try usable(name) { Refusal(.storeMissing(stem: take.stem, store: name)) }
    }

    private func usable(_ name: String, else refusal: () -> Refusal) throws(Refusal) -> any Store {
        if let store = all.first(where: { $0.store.name == name })?.store { return store }
        if let problem = problems.first(where: { $0.name == name }) {
            throw Refusal(.store(.denied, message: problem.error.sentence))
        }
        throw refusal()
    }
}
