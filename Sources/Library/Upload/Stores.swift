public import Settings

/// A store from the settings before it is opened.
public struct StorePlan: Sendable {
    /// The name in receipts, whether the store can be opened or not.
    public var name: String
    /// The mount point of its stick, or nil if it is not on a stick.
    public var mount: String?
    /// Whether the stick may be pulled once the upload is complete, because takes are not recorded on it.
    public var mayBePulled = false
    /// Whether it uses a certificate, which cannot be checked while the clock is not set.
    public var needsClock = false
    public var open: @Sendable () throws -> any Store

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

/// The context that all kinds of stores need in addition to the settings.
public struct StoreContext: Sendable {
    public var kit: String
    /// Keeps the state that an upload needs to resume after a restart.
    public var resume: ResumeStates
    /// The adopted sticks.
    public var sticks: HomeSticks

    public init(kit: String, resume: ResumeStates, sticks: HomeSticks) {
        self.kit = kit
        self.resume = resume
        self.sticks = sticks
    }
}

extension StorePlan {
    /// A store without HTTP in this program; nil for the kinds that need HTTP.
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
            // rclone chooses the protocol, which is mostly TLS.
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

public struct Stores: Sendable {
    /// The usable stores, in the order of the settings.
    public private(set) var all: [Entry] = []
    /// The names of all stores, usable or not. Takes wait for the unusable ones.
    public private(set) var names: [String] = []
    /// Why stores cannot be used, one sentence each, with the store's name.
    public private(set) var problems: [(name: String, error: StoreError)] = []

    public struct Entry: Sendable {
        public var store: any Store
        public var plan: StorePlan

        public init(store: any Store, plan: StorePlan) {
            self.store = store
            self.plan = plan
        }
    }

    /// The same stores, with each one replaced by `other`.
    package func replacingStores(_ other: (Entry) -> any Store) -> Stores {
        var stores = self
        stores.all = all.map { Entry(store: other($0), plan: $0.plan) }
        return stores
    }

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
