import Catalog
public import Control
import Glibc
import Logging
public import ServiceLifecycle
public import Settings
import TakeFiles
import Takes
import Transport
import UnixSignals
public import Upload
import Workers

/// The library service. It builds the parts and runs them until a signal ends it.
public struct Library: Sendable {
    private let settings: Settings
    private let plan: Plan
    private let extra: Extra
    private let log: Logger

    /// Makes a store of a kind that the settings name.
    public typealias Plan = @Sendable (Settings.Outbox.Store, Settings, StoreContext) -> StorePlan?

    /// Makes further services, which use the library through its desk.
    public typealias Extra = @Sendable (LibraryDesk) throws -> [any ServiceLifecycle.Service]

    /// A library of the kit that the settings describe.
    /// - Parameters:
    ///   - problems: errors in the settings file, one sentence each.
    ///   - plan: makes the stores that the settings name.
    ///   - extra: makes services that run along with the library. If it throws, the error is logged, and the library
    ///     runs without them.
    public init(
        settings: Settings, problems: [String], plan: @escaping Plan, extra: @escaping Extra = { _ in [] }
    ) {
        self.settings = settings
        self.plan = plan
        self.extra = extra
        log = Self.makeLog()
        for problem in problems { log.error("\(problem)") }
    }

    /// Logs the error that ended the library.
    public func report(_ error: any Error) { log.error("\(error)") }

    private static func makeLog() -> Logger {
        Logger(label: "fieldfare-library") { _ in LibraryLog() }
    }

    /// Runs the service. Returns after SIGTERM or SIGINT.
    /// - Throws: `LibraryError` and `CatalogError`, one sentence each.
    public func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGHUP, SIG_IGN)
        let parts = try build(isNew: false)
        defer { _ = parts.lock }
        let server = LibraryServer(
            path: settings.library.socket, parts.requests, parts.remote, parts.deletion, parts.sticks, log: log)
        do throws(ControlError) {
            try server.listen()
        } catch {
            log.error("\(error): nobody can ask the library; it does its work all the same")
        }
        let desk = LibraryDesk(
            settings: settings, log: log, pairing: parts.pairing, certificate: parts.certificate,
            requests: parts.requests, deletion: parts.deletion, sticks: parts.sticks,
            changes: parts.catalogs.catalog.changes)
        var others: [any ServiceLifecycle.Service] = []
        do {
            others = try extra(desk)
        } catch {
            log.error("\(error)")
        }
        let services = [server, parts.indexer] + parts.services + others + [Readiness(log: log)]
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { .init(service: $0) },
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() }))
        try await group.run()
        try? parts.catalogs.catalog.close()
    }

    /// Builds the catalog anew and returns.
    public func rebuild() async throws {
        let parts = try build(isNew: true)
        defer { _ = parts.lock }
        await parts.indexer.scanAll()
        try? parts.catalogs.catalog.close()
    }

    /// Makes the console's certificate, unless there is one for the kit's names, and returns.
    /// - Parameter directory: the library's folder.
    /// - Returns: the fingerprint, or nil if no certificate can be made.
    public func makeCertificate(in directory: String) throws -> CertificateFingerprint? {
        try FolderOwner(of: directory, user: geteuid())?.become()
        return openCertificate(in: directory)?.fingerprint
    }

    private func openCertificate(in directory: String) -> CertificateFile? {
        let (certificate, problem) = CertificateFile.open(in: directory, names: CertificateFile.names(settings))
        if let problem { log.error("\(problem)") }
        return certificate
    }

    private struct Parts {
        var catalogs: CatalogSlot
        var indexer: Indexer
        var pairing: PairingCodeFile
        var certificate: CertificateFile?
        var requests: LibraryRequests
        var remote: RemoteDesk
        var deletion: TakeDeletion
        var sticks: StickDesk
        /// The outbox's services, and the network watch.
        var services: [any ServiceLifecycle.Service]
        var lock: LibraryLock
    }

    private func build(isNew: Bool) throws -> Parts {
        let directory = settings.library.directory
        try FolderOwner(of: directory, user: geteuid())?.become()
        let lock = try LibraryLock(directory)
        let reader = try DiskReader(name: "reader")
        let resume = ResumeStates(folder: "\(directory)/resume", reader: reader)
        let (homeSticks, sticksTrouble) = HomeSticks.open(in: directory)
        if let sticksTrouble { log.error("\(sticksTrouble)") }
        let context = StoreContext(kit: settings.kitName, resume: resume, sticks: homeSticks)
        let recorder = try RecorderLink(path: settings.control.socket)
        let stores = Stores(settings.outbox.stores.compactMap { plan($0, settings, context) })
            .checkingClock { await recorder.isClockSet }
        let (catalog, problem) = try Catalog.open(in: directory, isNew: isNew, stores: stores.names) { [log] sentence in
            log.warning("library: \(sentence)")
        }
        if let problem { log.error("\(problem)") }
        let catalogs = CatalogSlot(catalog)
        let progress = ScanProgress()
        let watch = try TakesWatch()
        let roots = settings.takes.roots
        let remote = RemoteDesk(stores, catalogs)
        let discards = try DiscardDesk(recorder: settings.control.socket, catalogs.inHand) { take in
            (try? catalogs.catalog.lists(take)) == true
        }
        let sticks = StickDesk(stores, catalogs, log: log)
        let outbox = try Outbox(
            settings, stores, catalogs, recorder: recorder, remote: remote, discards: discards, sticks: sticks,
            reader: reader, log: log)
        let indexer = try Indexer(
            catalogs, roots: roots, watch: watch, progress: progress, changed: { outbox.post($0) }, log: log)
        var services = outbox.services
        do {
            services.append(try NetworkWatch { outbox.post(.surroundings) })
        } catch {
            log.error("\(error): takes that wait for a network are attempted again after a time")
        }
        let (pairing, trouble) = PairingCodeFile.open(in: directory)
        if let trouble { log.error("\(trouble)") }
        let certificate = settings.console.listen == nil ? nil : openCertificate(in: directory)
        let requests = LibraryRequests(
            catalogs, progress: progress, outbox: outbox.requests, pairing: pairing,
            fingerprint: certificate?.fingerprint
        ) { watch.post(.damaged) }
        return Parts(
            catalogs: catalogs, indexer: indexer, pairing: pairing, certificate: certificate, requests: requests,
            remote: remote,
            deletion: try TakeDeletion(
                catalogs, requests, remote, discards, reader: reader, recorder: settings.control.socket,
                inspector: outbox.inspector),
            sticks: sticks,
            services: services,
            lock: lock)
    }
}

extension Settings.Takes {
    /// The folders that may hold takes: the configured one, then the default ones on a stick and on the kit.
    var roots: [String] {
        var roots = [folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder]
        for other in [Self.stickMountPoint + "/takes", Settings().takes.folder] where !roots.contains(other) {
            roots.append(other)
        }
        return roots
    }
}

/// Locks the library's folder for one process.
final class LibraryLock: Sendable {
    private let descriptor: Int32

    init(_ directory: String) throws(LibraryError) {
        let path = "\(directory)/.lock"
        guard unsafe access(directory, F_OK) == 0 || mkdir(directory, 0o750) == 0 else {
            throw LibraryError("make \(directory)", errno, "make that folder, for the library's user")
        }
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw LibraryError("open \(path)", errno, "the library's user must be allowed to write there")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            throw LibraryError("lock \(path)", code, "another library uses that folder: stop it first")
        }
    }

    deinit {
        // Unlock explicitly: a child process that is being forked holds a copy of the descriptor until its exec, and
        // `close` alone would leave the lock with it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

/// Why the library cannot start.
public struct LibraryError: Error, Hashable, CustomStringConvertible {
    var operation: String
    var code: Int32
    var advice: String

    init(_ operation: String, _ code: Int32, _ advice: String) {
        self.operation = operation
        self.code = code
        self.advice = advice
    }

    public var description: String {
        // Safe: a string that lives until the next call on this thread.
        "library: cannot \(operation): \(unsafe String(cString: strerror(code))): \(advice)"
    }
}
