public import Settings

/// A store that the settings name, before it is opened.
public struct StorePlan: Sendable {
    /// What receipts name it by, whether it can be opened or not.
    public var name: String
    /// Where the stick is mounted that it is on; nil: it is not on one.
    public var mount: String?
    /// Whether the stick may be pulled once everything is on it: takes are not recorded on it.
    public var mayBePulled = false
    /// Whether it is trusted by a certificate, which a clock that is not set cannot check.
    public var needsClock = false
    /// Opens it.
    public var open: @Sendable () throws -> any Store

    /// A store.
    public init(
        name: String, mount: String? = nil, mayBePulled: Bool = false, needsClock: Bool = false,
        open: @escaping @Sendable () throws -> any Store
    ) {
        self.name = name
        self.mount = mount
        self.mayBePulled = mayBePulled
        self.needsClock = needsClock
        self.open = open
    }
}

/// What stores of any kind need beside the settings.
public struct StoreContext: Sendable {
    /// This kit's name.
    public var kit: String
    /// Where they keep what an upload needs to go on after a restart.
    public var resume: ResumeStates
    /// The sticks that are home.
    public var sticks: HomeSticks

    /// What they need.
    public init(kit: String, resume: ResumeStates, sticks: HomeSticks) {
        self.kit = kit
        self.resume = resume
        self.sticks = sticks
    }
}

extension StorePlan {
    /// A store that this program does not speak HTTP with; nil: this kind needs that.
    public init?(_ kind: Settings.Outbox.Store, _ settings: Settings, _ context: StoreContext) {
        let kit = context.kit
        let takes = [settings.takes.folder, Settings.Takes.stickMountPoint + "/takes", Settings().takes.folder]
        switch kind {
        case .automatic:
            let stick = Settings.Takes.stickMountPoint
            self.init(name: Settings.Outbox.stickStore, mount: stick, mayBePulled: settings.takes.stick == .none) {
                try FolderStore(
                    name: Settings.Outbox.stickStore, path: "\(stick)/fieldfare", kit: kit, takes: takes,
                    followsLink: false, sticks: context.sticks)
            }
        case .folder:
            let path = settings.outbox.folder.path ?? ""
            let name = "folder:\(path)"
            self.init(name: name) { try FolderStore(name: name, path: path, kit: kit, takes: takes) }
        case .rclone:
            let outbox = settings.outbox
            let name = outbox.rclone.remote.map(RcloneStore.name) ?? kind.rawValue
            // Where it sends to is rclone's: mostly by TLS.
            self.init(name: name, needsClock: true) {
                try RcloneStore(outbox.rclone, authorities: outbox.authorities, kit: kit)
            }
        case .sftp:
            self.init(name: SFTPStore.name(of: settings.outbox.sftp.url ?? "")) {
                try SFTPStore(settings.outbox.sftp, kit: kit, resume: context.resume)
            }
        case .nowhere, .s3, .firebase, .webdav: return nil
        }
    }
}

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
        /// What it was opened by.
        public var plan: StorePlan

        /// A store.
        public init(store: any Store, plan: StorePlan) {
            self.store = store
            self.plan = plan
        }
    }

    /// The same, with others in place of the stores.
    package func replacingStores(_ other: (Entry) -> any Store) -> Stores {
        var stores = self
        stores.all = all.map { Entry(store: other($0), plan: $0.plan) }
        return stores
    }

    /// Opens them.
    public init(_ plans: [StorePlan]) {
        for plan in plans {
            names.append(plan.name)
            do {
                all.append(Entry(store: try plan.open(), plan: plan))
            } catch let error as StoreError {
                problems.append((plan.name, error))
            } catch {
                problems.append((plan.name, StoreError(.refused, "outbox: \(plan.name): \(error)")))
            }
        }
    }
}
