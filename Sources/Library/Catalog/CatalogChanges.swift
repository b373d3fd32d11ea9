import Takes

/// A change of the catalog. Takes are named by their stems.
public enum CatalogChange: Hashable, Sendable {
    /// A take is listed for the first time.
    case added(String)
    /// The data or notes of a take changed, or its state with a store.
    case revised(String)
    /// A take is no longer listed.
    case removed(String)
    /// Many takes changed, or a storage with all of its takes.
    case many
}

/// Notifies watchers of changes after they are in the database. Thread-safe.
public final class CatalogChanges: Sendable {
    private let handlers = Locked<[@Sendable (CatalogChange) -> Void]>([])

    /// More changes in one call are reported as `many`.
    static let mostAtATime = 20

    public init() {}

    /// Calls a handler with each change until the process ends. The handler must not block.
    public func watch(_ handler: @escaping @Sendable (CatalogChange) -> Void) {
        handlers.withLock { $0.append(handler) }
    }

    /// Reports the changes of one transaction.
    package func post(_ changes: [CatalogChange]) {
        guard !changes.isEmpty else { return }
        let changes = changes.count > Self.mostAtATime ? [.many] : changes
        for handler in handlers.withLock({ $0 }) { changes.forEach(handler) }
    }
}
