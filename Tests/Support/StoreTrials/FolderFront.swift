package import Files
package import Upload

/// A test's store in front of a folder. By default, each call is passed to the folder.
package protocol FolderFront: Store {
    var folder: FolderStore { get }
}

extension FolderFront {
    package var name: String { folder.name }
    package var traits: StoreTraits { folder.traits }

    package func wantedChecksum(byteCount: Int64) -> (any Checksum)? { folder.wantedChecksum(byteCount: byteCount) }

    package func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        try await folder.put(source, checksum, as: object, metadata, mode: mode, report: report)
    }

    package func head(_ object: ObjectName) async throws -> StoredObject? { try await folder.head(object) }

    package func list(_ receive: ([StoredObject]) async throws -> Void) async throws {
        try await folder.list(receive)
    }

    package func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        try await folder.get(object, receive)
    }

    package func delete(_ object: ObjectName) async throws { try await folder.delete(object) }
    package func tidy() async throws { try await folder.tidy() }
    package func medium() async throws -> String? { try await folder.medium() }
    package func place() async throws -> FileIdentity? { try await folder.place() }
    package func close() async { await folder.close() }
}

extension Store {
    /// Sends a file without a computed checksum.
    package func put(
        _ source: UploadSource, as object: ObjectName, _ metadata: ObjectMetadata, mode: PutMode,
        report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        try await put(source, nil, as: object, metadata, mode: mode, report: report)
    }
}
