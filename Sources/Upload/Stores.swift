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
        /// Whether its server proves by a certificate who it is, so that the clock has to be right.
        public var needsClock: Bool
        /// Where the stick is mounted that it is on, which may be pulled once everything is there; nil: it is not on one.
        public var mount: String?

        /// A store.
        public init(store: any Store, needsClock: Bool, mount: String?) {
            self.store = store
            self.needsClock = needsClock
            self.mount = mount
        }
    }

    /// The stick's folder for takes, as `store = "auto"` has it.
    public static let stickName = "stick"

    /// Makes them.
    /// - Parameters:
    ///   - kit: this kit's name.
    ///   - directory: the library's own folder.
    ///   - stick: where a stick is mounted.
    public init(_ settings: Settings.Outbox, kit: String, directory: String, stick: String, reader: DiskReader) {
        for kind in settings.stores {
            let name = Self.name(of: kind, settings)
            names.append(name)
            do {
                all.append(try Self.make(kind, name, settings, kit: kit, directory: directory, stick: stick, reader))
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
        _ kind: Settings.Outbox.Store, _ name: String, _ settings: Settings.Outbox, kit: String, directory: String,
        stick: String, _ reader: DiskReader
    ) throws -> Entry {
        switch kind {
        case .automatic:
            let store = try FolderStore(name: name, path: "\(stick)/fieldfare", kit: kit, followsLink: false)
            return Entry(store: store, needsClock: false, mount: stick)
        case .folder:
            let store = try FolderStore(name: name, path: settings.folder.path ?? "", kit: kit)
            return Entry(store: store, needsClock: false, mount: nil)
        default:
            throw StoreError(
                .refused,
                "outbox: \(kind.rawValue): this version cannot send there: name \"auto\" or \"folder\" as [outbox] store"
            )
        }
    }
}
