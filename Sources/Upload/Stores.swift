public import Settings

/// The stores that the settings name.
public struct Stores: Sendable {
    /// The stores that can be used, in the order of the settings.
    public private(set) var all: [Entry] = []
    /// The names of all stores, usable or not: takes wait for those that are not.
    public private(set) var names: [String] = []
    /// Why some cannot be used, a sentence each, with the store's name.
    public private(set) var problems: [(name: String, error: StoreError)] = []

    /// A store, and what the outbox has to know of it.
    public struct Entry: Sendable {
        /// The store.
        public var store: any Store
        /// Where the stick is mounted that it is on; nil: it is not on one.
        public var mount: String?
        /// Whether the stick may be pulled once everything is on it: takes are not recorded on it.
        public var mayBePulled: Bool

        /// A store.
        public init(store: any Store, mount: String? = nil, mayBePulled: Bool = false) {
            self.store = store
            self.mount = mount
            self.mayBePulled = mayBePulled
        }
    }

    /// The stick's folder for takes, as `store = "auto"` has it.
    public static let stickName = "stick"

    /// Makes them.
    /// - Parameter kit: this kit's name.
    public init(_ settings: Settings, kit: String) {
        for kind in settings.outbox.stores {
            let name = Self.name(of: kind, settings.outbox)
            names.append(name)
            do {
                all.append(try Self.make(kind, name, settings, kit: kit))
            } catch let error as StoreError {
                problems.append((name, error))
            } catch {
                problems.append((name, StoreError(.refused, "outbox: \(name): \(error)")))
            }
        }
    }

    private static func name(of kind: Settings.Outbox.Store, _ settings: Settings.Outbox) -> String {
        switch kind {
        case .automatic: stickName
        case .folder: "folder:\(settings.folder.path ?? "")"
        default: kind.rawValue
        }
    }

    private static func make(
        _ kind: Settings.Outbox.Store, _ name: String, _ settings: Settings, kit: String
    ) throws -> Entry {
        switch kind {
        case .automatic:
            let stick = Settings.Takes.stickMountPoint
            let store = try FolderStore(name: name, path: "\(stick)/fieldfare", kit: kit, followsLink: false)
            return Entry(store: store, mount: stick, mayBePulled: settings.takes.stick == .none)
        case .folder:
            return Entry(store: try FolderStore(name: name, path: settings.outbox.folder.path ?? "", kit: kit))
        default:
            throw StoreError(
                .refused,
                "outbox: \(kind.rawValue): this version cannot send there: name \"auto\" or \"folder\" as [outbox] store"
            )
        }
    }
}
