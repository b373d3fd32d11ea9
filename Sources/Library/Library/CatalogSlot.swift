import Catalog
import Takes

/// The catalog in use. Thread-safe.
final class CatalogSlot: Sendable {
    private let current: Locked<Catalog>
    /// The parcels being sent or deleted now.
    let inHand = ParcelsInHand()

    init(_ catalog: Catalog) { current = Locked(catalog) }

    var catalog: Catalog { current.withLock { $0 } }

    /// Sets the database aside and begins a new one.
    func replace() throws {
        try current.withLock { $0 = try $0.replacement() }
    }
}
