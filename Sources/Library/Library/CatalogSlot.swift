import Catalog
import Takes

/// The catalog that is in use. May be used by any thread.
final class CatalogSlot: Sendable {
    private let current: Locked<Catalog>
    /// What somebody sends or deletes.
    let inHand = ParcelsInHand()

    init(_ catalog: Catalog) { current = Locked(catalog) }

    var catalog: Catalog { current.withLock { $0 } }

    /// Sets the database aside, and begins a new one.
    func replace() throws {
        try current.withLock { $0 = try $0.replacement() }
    }
}
