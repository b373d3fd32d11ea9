import Files
import Upload

/// A store that is trusted by a certificate. While the clock is not set, the certificate's dates cannot be checked, and
/// every request to the store throws.
struct ClockedStore: Store {
    private let store: any Store
    private let isClockSet: @Sendable () async -> Bool

    init(_ store: any Store, isClockSet: @escaping @Sendable () async -> Bool) {
        self.store = store
        self.isClockSet = isClockSet
    }

    var name: String { store.name }

    var traits: StoreTraits { store.traits }

    static func error(_ name: String) -> StoreError {
        StoreError(
            .away,
            "outbox: \(name): the clock is not set, so that no certificate can be checked: set it, or wait for it")
    }

    private func check() async throws {
        guard await isClockSet() else { throw Self.error(name) }
    }

    func wantedChecksum(byteCount: Int64) -> (any Checksum)? { store.wantedChecksum(byteCount: byteCount) }

    func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        try await check()
        return try await store.put(source, checksum, as: object, metadata, mode: mode, report: report)
    }

    func head(_ object: ObjectName) async throws -> StoredObject? {
        try await check()
        return try await store.head(object)
    }

    func list(_ receive: ([StoredObject]) async throws -> Void) async throws {
        try await check()
        try await store.list(receive)
    }

    func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        try await check()
        try await store.get(object, receive)
    }

    func delete(_ object: ObjectName) async throws {
        try await check()
        try await store.delete(object)
    }

    func tidy() async throws {
        try await check()
        try await store.tidy()
    }

    func medium() async throws -> String? {
        try await check()
        return try await store.medium()
    }

    func place() async throws -> FileIdentity? {
        try await check()
        return try await store.place()
    }

    func close() async { await store.close() }
}

extension Stores {
    /// The same stores. Those that need the clock throw while it is not set.
    func checkingClock(_ isClockSet: @escaping @Sendable () async -> Bool) -> Stores {
        replacingStores { $0.plan.needsClock ? ClockedStore($0.store, isClockSet: isClockSet) : $0.store }
    }
}
