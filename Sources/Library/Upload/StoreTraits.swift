/// The kind of a store, which never changes.
public enum StoreTraits: Sendable {
    /// Behind a network, which may be down.
    case server
    /// A mounted folder. If it is missing, no network brings it back.
    case folder
    /// A folder on the inserted stick.
    case stick(StickFolder)

    public var isFolder: Bool {
        switch self {
        case .server: false
        case .folder, .stick: true
        }
    }

    public var stick: StickFolder? {
        switch self {
        case .server, .folder: nil
        case .stick(let folder): folder
        }
    }
}
