import Digests
import Takes
import Upload

/// A store in memory that notes each call. Its checksum of a file is the length.
final class TracedStore: ServerStore {
    /// The operation that the kit may not do.
    enum Limit { case looking, deleting, replacing }

    private struct State {
        var objects: [ObjectName: [UInt8]] = [:]
        var limits: Set<Limit> = []
        var medium: String?
        var lost: String?
        var facts: String?
    }

    let name = "tests:home"
    private let trace: DeliveryTrace
    private let state = Locked(State())

    init(_ trace: DeliveryTrace) { self.trace = trace }

    func limit(_ limits: Set<Limit>) { state.withLock { $0.limits = limits } }
    func insert(_ medium: String) { state.withLock { ($0.medium, $0.objects) = (medium, [:]) } }
    /// Loses the next answer after this file arrived.
    func loseAnswer(of file: String) { state.withLock { $0.lost = file } }
    func write(_ bytes: [UInt8], to object: ObjectName) { state.withLock { $0.objects[object] = bytes } }
    func bytes(of object: ObjectName) -> [UInt8]? { state.withLock { $0.objects[object] } }
    func text(of object: ObjectName) -> String? { bytes(of: object).map { String(decoding: $0, as: UTF8.self) } }
    private func limits(_ limit: Limit) -> Bool { state.withLock { $0.limits.contains(limit) } }

    private func refuse(_ problem: StoreError.Problem, _ object: ObjectName) throws -> Never {
        trace.note("  \(problem)")
        throw StoreError(problem, "outbox: \(name): \(object): \(problem)")
    }

    /// Notes the metadata of an object except its hash, if they differ from the previous ones.
    private func noteFacts(_ metadata: ObjectMetadata) {
        let facts =
            "  \(metadata.title) [\(metadata.waveform)], \(metadata.started), \(metadata.duration), \(metadata.kit)"
        let isNew = state.withLock { state in
            defer { state.facts = facts }
            return state.facts != facts
        }
        if isNew { trace.note(facts) }
    }

    private struct ByteCount: Checksum {
        var count = 0

        mutating func update(_ bytes: [UInt8]) { count += bytes.count }
    }

    func wantedChecksum(byteCount: Int64) -> (any Checksum)? {
        trace.note("want of \(byteCount)")
        return ByteCount()
    }

    func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        let counted = (checksum as? ByteCount).map { ", counted \($0.count)" } ?? ""
        trace.note("put \(object), \(source.byteCount): \(metadata.sha256), \(mode)\(counted)")
        noteFacts(metadata)
        let content = try await source.bytes(at: 0, count: Int(source.byteCount))
        if let there = bytes(of: object), there != content {
            if mode.replaces, limits(.replacing) { try refuse(.refused, object) }
            guard mode.allows(Digest.sha256(there).hexadecimal) else { try refuse(.conflict, object) }
        }
        report(.sent(source.byteCount))
        write(content, to: object)
        let isLost = state.withLock { state in
            defer { if state.lost == object.file { state.lost = nil } }
            return state.lost == object.file
        }
        if isLost { try refuse(.away, object) }
        report(.verifying)
        let why = limits(.looking) ? "outbox: nothing is shown" : nil
        return StoredObject(
            name: object, byteCount: source.byteCount, sha256: metadata.sha256,
            mark: why == nil ? "mark-\(metadata.sha256.prefix(4))" : nil, unverified: why)
    }

    func head(_ object: ObjectName) async throws -> StoredObject? {
        trace.note("head \(object)")
        if limits(.looking) { try refuse(.hidden, object) }
        return bytes(of: object).map { StoredObject(name: object, byteCount: Int64($0.count), sha256: nil) }
    }

    func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        trace.note("get \(object)")
        if limits(.looking) { try refuse(.hidden, object) }
        guard let bytes = bytes(of: object) else { try refuse(.missing, object) }
        try await receive(bytes)
    }

    func delete(_ object: ObjectName) async throws {
        trace.note("delete \(object)")
        if limits(.deleting) { try refuse(.refused, object) }
        state.withLock { $0.objects[object] = nil }
    }

    func medium() async throws -> String? {
        trace.note("medium")
        return state.withLock(\.medium)
    }

    func list(_ receive: ([StoredObject]) async throws -> Void) async throws { trace.note("list") }
}
