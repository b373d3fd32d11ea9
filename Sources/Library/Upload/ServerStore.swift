public import Files

/// A store behind a network. It has a single medium. By default it compares no checksum, and tidying and closing do
/// nothing.
public protocol ServerStore: Store {}

extension ServerStore {
    public var traits: StoreTraits { .server }

    public func wantedChecksum(byteCount: Int64) -> (any Checksum)? { nil }

    public func tidy() async throws {}

    public func medium() async throws -> String? { nil }

    public func place() async throws -> FileIdentity? { nil }

    public func close() async {}
}
