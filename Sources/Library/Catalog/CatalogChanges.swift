import Takes

/// What changed in the catalog.
public enum CatalogChange: Hashable, Sendable {
    /// A take that was not listed.
    case added(String)
    /// What is known or noted of a take, or where it stands with a store.
    case revised(String)
    /// A take that is not listed any more.
    case removed(String)
    /// Many takes, or a storage with all of its takes.
    case many
}

/// Has those who show takes know what changed, once it is in the database. May be used by any thread.
public final class CatalogChanges: Sendable {
    private let handlers = Locked<[@Sendable (CatalogChange) -> Void]>([])

    /// More at a time are `many`.
    static let mostAtATime = 20

    /// Nobody watches.
    public init() {}

    /// Calls a handler with each change, until the process ends. It must not wait.
    public func watch(_ handler: @escaping @Sendable (CatalogChange) -> Void) {
        handlers.withLock { $0.append(handler) }
    }

    /// Reports changes of one transaction.
    package func post(_ changes: [CatalogChange]) {
        guard !changes.isEmpty else { return }
        let changes = changes.count > Self.mostAtATime ? [.many] : changes
        for handler in handlers.withLock({ $0 }) { changes.forEach(handler) }
    }
}
