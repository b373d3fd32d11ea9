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
    private let reader: DiskReader
    private let log: Logger

    /// Makes a store of a kind that the settings name.
    public typealias Plan = @Sendable (Settings.Outbox.Store, Settings, StoreContext) -> StorePlan?

    /// Makes further services, which use the library through its desk.
    public typealias Extra = @Sendable (LibraryDesk) throws -> [any ServiceLifecycle.Service]

    /// A library of the kit that the settings describe.
    /// - Parameters:
    ///   - problems: errors in the settings file, one sentence each.
    ///   - reader: runs the disk work that has no thread of its own.
    ///   - plan: makes the stores that the settings name.
    ///   - extra: makes services that run along with the library. If it throws, the error is logged, and the library
    ///     runs without them.
    public init(
        settings: Settings, problems: [String], reader: DiskReader, plan: @escaping Plan,
        extra: @escaping Extra = { _ in [] }
    ) {
        self.reader = reader
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
        let (parts, services) = try await Readiness(log: log).starting {
            try await reader.perform { _ in try start() }
        }
        defer { _ = parts.lock }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { .init(service: $0) },
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() }))
        try await group.run()
        await close(parts)
    }

    /// Opens the catalog and the socket, and makes the services.
    private func start() throws -> (Parts, [any ServiceLifecycle.Service]) {
        let parts = try build(isNew: false)
        let server = LibraryServer(
            path: settings.library.socket, parts.requests, parts.remote, parts.deletion, parts.sticks, log: log)
        do throws(ControlError) {
            try server.listen()
        } catch {
            log.error("\(error): nobody can ask the library; it does its work all the same")
        }
        var others: [any ServiceLifecycle.Service] = []
        do {
            others = try extra(desk(of: parts))
        } catch {
            log.error("\(error)")
        }
        return (parts, [server, parts.indexer] + parts.services + others + [Readiness(log: log)])
    }

    private func close(_ parts: Parts) async {
        try? await reader.perform { _ in try parts.catalogs.catalog.close() }
    }

    /// Builds the catalog anew and returns.
    public func rebuild() async throws {
        let parts = try await reader.perform { _ in try build(isNew: true) }
        defer { _ = parts.lock }
        await parts.indexer.scanAll()
        await close(parts)
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

    struct Parts {
        var catalogs: CatalogSlot
        var indexer: Indexer
        var pairing: PairingCodeFile
        var certificate: CertificateFile?
        var requests: LibraryRequests
        var remote: RemoteDesk
        var deletion: TakeDeletion
        var sticks: StickDesk
        var spectra: SpectraDesk
        /// The outbox's services, and the network watch.
        var services: [any ServiceLifecycle.Service]
        var lock: LibraryLock
    }

    func desk(of parts: Parts) -> LibraryDesk {
        LibraryDesk(
            settings: settings, log: log, pairing: parts.pairing, certificate: parts.certificate,
            requests: parts.requests, deletion: parts.deletion, sticks: parts.sticks, spectra: parts.spectra,
            changes: parts.catalogs.catalog.changes)
    }

    func build(isNew: Bool) throws -> Parts {
        let directory = settings.library.directory
        try FolderOwner(of: directory, user: geteuid())?.become()
        let lock = try LibraryLock(directory)
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
        let copies = try RemoteCopies(stores, catalogs)
        let discards = try DiscardDesk(recorder: settings.control.socket, catalogs.inHand) { take in
            (try? catalogs.catalog.lists(take)) == true
        }
        let sticks = try StickDesk(stores, catalogs, log: log)
        let spectra = SpectraDesk(
            in: "\(directory)/spectra", SpectraGate(settings), recording: { recorder.recording }, log: log)
        let outbox = try Outbox(
            settings, stores, catalogs, recorder: recorder, copies: copies, discards: discards, sticks: sticks,
            spectra: spectra, reader: reader, log: log)
        let indexer = try Indexer(
            catalogs, roots: roots, watch: watch, progress: progress, changed: { outbox.post($0) }, log: log)
        var services = outbox.services
        services.append(SpectraThread(spectra, catalogs, isScanned: { progress.hasScanned }, log: log))
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
            remote: try RemoteDesk(stores, catalogs, copies),
            deletion: try TakeDeletion(
                catalogs, requests, copies, discards, reader: reader, recorder: settings.control.socket,
                inspector: outbox.inspector),
            sticks: sticks,
            spectra: spectra,
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

extension SpectraGate {
    init(_ settings: Settings) {
        self.init(
            hasBattery: settings.power.lowBattery != nil || settings.power.lowVolts != nil,
            reservedBytes: Int64(settings.takes.reserveMiB) << 20,
            longestLag: max(2, 2 * settings.takes.sync.inSeconds))
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
        "library: cannot \(operation): \(SystemError(code)): \(advice)"
    }
}
