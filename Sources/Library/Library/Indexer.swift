import Catalog
import Files
import Glibc
import Logging
import ServiceLifecycle
import Takes
import Workers

/// Keeps the catalog up to date with the folders for takes: it scans at start, then follows the kernel's events.
actor Indexer: Service {
    /// Shared with the server, because a damaged catalog is replaced.
    private let catalogs: CatalogSlot
    private let roots: [String]
    private let watch: TakesWatch
    private let progress: ScanProgress
    private let files = FileSystem()
    private let release: StickRelease
    /// Called when takes or storages appeared, changed or disappeared.
    private let changed: @Sendable (SendingState.News) -> Void
    private let log: Logger
    private let executor: ThreadExecutor
    /// The storages that are present, by folder, with their numbers in the catalog.
    private var storages: [String: (storage: Storage, number: Int64)] = [:]
    /// Whether some folders cannot be watched. These need a periodic scan.
    private var unwatched = Unwatched.none
    private var reported: Set<String> = []

    /// Compares everything again after a failure or an interruption, or nil if there was none since.
    private(set) var retry: Task<Void, Never>?
    private let retryInterval: Duration

    private enum Unwatched { case none, some }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(
        _ catalogs: CatalogSlot, roots: [String], watch: TakesWatch, progress: ScanProgress,
        changed: @escaping @Sendable (SendingState.News) -> Void = { _ in }, retryInterval: Duration = .seconds(60),
        release: StickRelease = StickRelease(), log: Logger
    ) throws {
        self.catalogs = catalogs
        self.roots = roots
        self.watch = watch
        self.progress = progress
        self.changed = changed
        self.retryInterval = retryInterval
        self.release = release
        self.log = log
        executor = try ThreadExecutor(name: "indexer")
    }

    /// Scans, then follows changes, until shutdown.
    func run() async throws {
        let timer = Task { [weak self] in
            while true {
                try await Task.sleep(for: Self.rescanInterval)
                await self?.rescanUnwatched()
            }
        }
        defer { timer.cancel() }
        await withGracefulShutdownHandler {
            scanAll()
            for await event in watch.events where !progress.isStopping { handle(event) }
            retry?.cancel()
        } onGracefulShutdown: {
            self.progress.stop()
            self.watch.finish()
        }
    }

    /// The interval of the scans of folders that cannot be watched.
    private static let rescanInterval = Duration.seconds(300)

    private func rescanUnwatched() {
        if unwatched == .some { watch.post(.unknown) }
    }

    func handle(_ event: TakesWatch.Event) {
        switch event {
        case .sidecar(let folder, let file):
            guard let (root, day) = Self.split(folder), let (storage, number) = storages[root] else { return }
            let scan = scan(storage, number)
            guard let take = scan.finished(file, day: day) else { return }
            attempt { try scan.scan(take) }
            changed(.takes)
        case .folder(let folder, let name):
            guard let (storage, number) = storages[folder] else { return lookForStorages() }
            guard TakeName.isDay(name) else { return }
            // Watch before reading, so that no change is missed between the two.
            watchFolder("\(folder)/\(name)")
            attempt { try scan(storage, number).scan(day: name) }
            changed(.takes)
        case .mounts:
            lookForStorages()
            changed(.surroundings)
        case .unknown: scanAll()
        case .damaged: replaceCatalog(because: "it cannot be read")
        }
    }

    /// Compares everything with the catalog.
    func scanAll() {
        retry?.cancel()
        retry = nil
        attempt { [progress] in try catalogs.catalog.queueForNewStores { !progress.isStopping } }
        let present = presentStorages()
        attempt {
            let numbers = try catalogs.catalog.setPresent(Array(present.values))
            storages = [:]
            for (root, storage) in present {
                if let number = numbers[storage] { storages[root] = (storage, number) }
            }
        }
        watchAll()
        // A storage may have appeared before its folder was watched.
        if presentStorages() != present { watch.post(.mounts) }
        progress.begin()
        let start = SystemClock().now()
        attempt { try catalogs.catalog.beginFilling() }
        for (_, (storage, number)) in storages.sorted(by: { $0.key < $1.key }) {
            attempt { try scan(storage, number).all() }
        }
        if !progress.isStopping { attempt { try catalogs.catalog.endFilling() } }
        let done = progress.end()
        let milliseconds = (SystemClock().now() - start).nanoseconds / 1_000_000
        changed(.takes)
        log.info("library: \(done.done) takes compared in \(milliseconds) ms")
    }

    /// Compares everything if a storage appeared or disappeared.
    private func lookForStorages() {
        // This comes first: on a new stick, the folder for takes is made after the stick is mounted.
        for root in roots where storages[root] == nil { watchWay(to: root) }
        if presentStorages() != storages.mapValues(\.storage) { scanAll() }
    }

    private func presentStorages() -> [String: Storage] {
        var present: [String: Storage] = [:]
        for root in roots { present[root] = Storage(at: root) }
        return present
    }

    private func scan(_ storage: Storage, _ number: Int64) -> FolderScan {
        FolderScan(
            catalog: catalogs.catalog, storage: storage, number: number, files: files, progress: progress,
            release: release, report: { [log] in log.warning("\($0)") })
    }

    /// Runs an operation on storage and database. A failure is logged once per sentence (a full disk, for example), and
    /// everything is compared again after `retryInterval`.
    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch is FolderScan.Stopped {
            return
        } catch is FolderScan.StickLeaves {
            // Its disappearance is an event. This is for a stick that cannot be unmounted.
            scanAllLater()
        } catch is FolderScan.StorageChanged {
            watch.post(.mounts)
        } catch let error as CatalogError where Catalog.isDamage(error) {
            replaceCatalog(because: error.fact)
        } catch {
            if reported.insert("\(error)").inserted { log.error("library: \(error)") }
            scanAllLater()
        }
    }

    private func scanAllLater() {
        guard retry == nil else { return }
        retry = Task { [watch, retryInterval] in
            try? await Task.sleep(for: retryInterval)
            if !Task.isCancelled { watch.post(.unknown) }
        }
    }

    private func replaceCatalog(because problem: String) {
        do {
            try catalogs.replace()
            log.error("catalog: damaged: \(problem): it is set aside, and built again")
            watch.post(.unknown)
        } catch {
            log.critical("\(error)")
        }
    }

    // MARK: Watching

    private func watchAll() {
        unwatched = .none
        for root in roots {
            guard storages[root] != nil else {
                watchWay(to: root)
                continue
            }
            watchFolder(root)
            for day in (try? files.entries(root).filter(TakeName.isDay)) ?? [] { watchFolder("\(root)/\(day)") }
        }
    }

    /// Watches the nearest existing parent of a missing folder.
    private func watchWay(to root: String) {
        var nearest = Self.nearest(to: root)
        while true {
            watchFolder(nearest)
            // A nearer folder may have appeared before the watch began.
            let now = Self.nearest(to: root)
            guard now != nearest else { return }
            nearest = now
        }
    }

    private func watchFolder(_ folder: String) {
        do throws(WatchError) {
            try watch.add(folder)
        } catch {
            guard error.code != ENOENT else { return }
            unwatched = .some
            if reported.insert("\(error.code)").inserted { log.warning("\(error)") }
        }
    }

    /// Splits the path of a day's folder.
    private static func split(_ folder: String) -> (root: String, day: String)? {
        guard let slash = folder.lastIndex(of: "/") else { return nil }
        return (String(folder[..<slash]), String(folder[folder.index(after: slash)...]))
    }

    /// The nearest existing parent of a path.
    private static func nearest(to path: String) -> String {
        var path = path
        while let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            path = String(path[..<slash])
            if unsafe access(path, F_OK) == 0 { return path }
        }
        return "/"
    }
}
