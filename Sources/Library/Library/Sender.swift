import Catalog
import Glibc
import Logging
import ServiceLifecycle
import Settings
import TakeFiles
import Takes
import Upload
import Workers

/// Sends the takes that wait for one store, several at a time.
///
/// A failure that concerns one take holds that take. A failure of the store makes all takes wait (`StorePause`), and
/// then others are sent first (`TurnOrder`). The wait ends early when a file arrives, a stick is inserted, or a person
/// asks for it.
actor Sender: Service {
    enum Event: Sendable {
        /// Takes were added or changed.
        case takes
        /// A storage or network came or went, so a store may be reachable again.
        case surroundings
        /// A person asks for an attempt now.
        case retry
        /// A wait is over.
        case time
    }

    private enum Message: Sendable {
        case event(Event)
        /// The store has one more file of a parcel.
        case arrived(ParcelID)
        case finished(Parcel, Result<Void, any Error>)
    }

    private let entry: Stores.Entry
    private let catalogs: CatalogSlot
    private let board: OutboxBoard
    private let window: UploadWindow
    private let reader: DiskReader
    private let throttle: Throttle?
    /// Called when a store has one more take.
    private let sent: @Sendable () -> Void
    private let isClockSet: @Sendable () async -> Bool
    private let sticks: StickDesk?
    /// Throws unless the sound of a take is what was recorded, or was accepted by a person.
    private let checkSound: @Sendable (TakeName, _ folder: String, SoundInspector.Depth) async throws -> Void
    private let log: Logger
    private let executor: ThreadExecutor
    private nonisolated let messages: AsyncStream<Message>
    private nonisolated let mailbox: AsyncStream<Message>.Continuation

    private var condition = OutboxBoard.Condition.ready {
        didSet { board.update(name) { [condition] in $0.condition = condition } }
    }
    private var pause = StorePause()
    private var turns = TurnOrder()
    /// Whether the remains of earlier uploads were removed from the store, as far as possible.
    private var isTidied = false
    private var underWay: Set<ParcelID> = []
    /// Takes that are not chosen before the next event: a person has decided otherwise in the meantime, or the hold
    /// cannot be saved.
    private var passedOver: Set<ParcelID> = []
    /// The stick that was compared with receipts and was not adopted.
    private var comparedStick: (standing: FolderStore.StickStanding, place: FileIdentity?)?
    private var timer: Task<Void, Never>?
    private var reported = ""
    /// Whether the catalog failed since the last event.
    private var isCatalogFailing = false
    private var reportedOfCatalog = ""
    /// The time of the next attempt to send a held take.
    private var heldUntil: WallTime?
    static let mostAtATime = 4
    /// The time before the clock's state is checked again.
    private static let clockPause = Duration.seconds(60)
    /// The time before a catalog that failed is used again.
    private static let catalogPause = Duration.seconds(60)

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
    private var name: String { entry.store.name }

    init(
        _ entry: Stores.Entry, _ catalogs: CatalogSlot, board: OutboxBoard, window: UploadWindow, reader: DiskReader,
        throttle: Throttle?, sticks: StickDesk? = nil, isClockSet: @escaping @Sendable () async -> Bool = { true },
        sent: @escaping @Sendable () -> Void = {},
        checkSound:
            @escaping @Sendable (
                TakeName, _ folder: String, SoundInspector.Depth
            ) async throws -> Void = { _, _, _ in }, log: Logger
    ) throws {
        self.checkSound = checkSound
        self.entry = entry
        self.catalogs = catalogs
        self.board = board
        self.window = window
        self.reader = reader
        self.throttle = throttle
        self.sent = sent
        self.isClockSet = isClockSet
        self.sticks = sticks
        self.log = log
        executor = try ThreadExecutor(name: "sender")
        (messages, mailbox) = AsyncStream.makeStream(of: Message.self)
    }

    /// Reports an event. Thread-safe.
    nonisolated func post(_ event: Event) { mailbox.yield(.event(event)) }

    /// Sends until shutdown.
    func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                post(.takes)
                for await message in messages {
                    isCatalogFailing = false
                    handle(message)
                    await tidy()
                    await fill(&group)
                    setTimer()
                }
                group.cancelAll()
            }
            timer?.cancel()
            await entry.store.close()
        } onGracefulShutdown: {
            self.mailbox.finish()
        }
    }

    /// Removes the remains of earlier uploads, once, before anything is sent.
    private func tidy() async {
        guard !isTidied, underWay.isEmpty else { return }
        if entry.plan.needsClock, await !isClockSet() { return }
        isTidied = true
        // An unreachable store has nothing to tidy. A server that does not answer must not delay the shutdown.
        _ = try? await cancelWhenGracefulShutdown { [store = entry.store] in try await store.tidy() }
    }

    private func handle(_ message: Message) {
        switch message {
        case .event(.takes), .event(.time): passedOver = []
        case .event(.surroundings):
            passedOver = []
            // `reported` is kept: a network may come and go all day, and the same sentence should be logged only once.
            pause.reset()
            // A new network does not change the stick, so the lamp keeps offering it.
            if case .stickOffered = condition {} else { condition = .ready }
        case .event(.retry):
            passedOver = []
            pause.reset()
            turns = TurnOrder()
            becomeReady()
        case .arrived(let parcel):
            pause.succeeded()
            turns.advanced(parcel)
            if case .waiting = condition { condition = .ready }
        case .finished(let parcel, let outcome):
            underWay.remove(parcel.id)
            board.update(name) { standing in
                standing.sending[parcel.id] = nil
                if case .failure = outcome { standing.hasWaiting = true }
            }
            switch outcome {
            case .success:
                pause.succeeded()
                turns.succeeded(parcel.id)
                becomeReady()
                log.info("outbox: \(parcel.id.stem): is at \(name)")
                sent()
            case .failure(let error): failed(parcel, error)
            }
        }
    }

    private func becomeReady() {
        reported = ""
        condition = .ready
    }

    private func failed(_ parcel: Parcel, _ error: any Error) {
        switch error {
        case is CancellationError, is Catalog.NoSuchTake: passedOver.insert(parcel.id)
        case let error as StoreError where error.isOfTake: hold(parcel, error)
        // The stick was inserted while the take was begun. It is examined before the next take, and the lamp offers it
        // without interruption.
        case let error as StoreError where error.problem == .unadopted: turns.failed(parcel.id)
        case let error as StoreError: wait(for: error, during: parcel)
        // The notes of this take cannot be read or written. Other takes are sent, unless the disk is full.
        case let error as FileError where ![ENOSPC, EDQUOT, EROFS].contains(error.code):
            hold(parcel, StoreError(.unreadable, "outbox: \(error.fact)"))
        default: wait(for: StoreError(.away, "outbox: \(name): \(error)"), during: parcel)
        }
    }

    /// Holds one take, for a time or until a person asks for another attempt.
    private func hold(_ parcel: Parcel, _ error: StoreError) {
        log.warning("\(error): \(parcel.id.stem) is held")
        attempt {
            passedOver.insert(parcel.id)
            try catalogs.catalog.failed(
                parcel.id, of: parcel.revision, for: name, why: error.sentence,
                error.retry(chance: .random(in: 0...1)), at: SystemClock().wallTime())
            passedOver.remove(parcel.id)
        }
    }

    /// Makes all takes wait. The one during which the store failed also waits until others had their turn.
    private func wait(for error: StoreError, during parcel: Parcel) {
        turns.failed(parcel.id)
        // Parcels sent at the same time as the first one to fail also fail. They count as one failure.
        guard let until = pause.failed(error.problem, at: .now, chance: .random(in: 0...1)) else { return }
        condition = .waiting(error, until: until)
        guard error.sentence != reported else { return }
        reported = error.sentence
        log.warning("\(error): its takes wait")
    }

    // MARK: Sending

    private func fill(_ group: inout DiscardingTaskGroup) async {
        var hasWaiting = false
        attempt {
            heldUntil = try catalogs.catalog.releaseHeld(of: name, now: SystemClock().wallTime())
            hasWaiting = try !waiting(limit: 1).isEmpty
        }
        board.update(name) { $0.hasWaiting = hasWaiting }
        guard await isHome() else { return }
        guard hasWaiting else { return lookAtStick() }
        let free = Self.mostAtATime - underWay.count
        guard free > 0, mayBegin(), await canTrust() else { return }
        var next: [Parcel] = []
        attempt {
            let waiting = try waiting(limit: turns.isUntroubled ? free : .max)
            let chosen = turns.next(free, of: waiting.map(\.id), beside: underWay)
            next = chosen.compactMap { id in waiting.first { $0.id == id } }
        }
        for parcel in next where catalogs.inHand.beginSending(parcel.id) {
            underWay.insert(parcel.id)
            // The board shows nothing until the store has answered: the lamp must not flash at each attempt while a
            // store is unreachable.
            group.addTask { await self.send(parcel) }
        }
    }

    /// Whether takes may be sent to the store: its stick is adopted, or it is not on a stick. Another stick is compared
    /// with the receipts once, and then offered.
    private func isHome() async -> Bool {
        guard let sticks, let standing = await sticks.standing(of: entry.store) else { return true }
        guard case .other(let marks) = standing else {
            comparedStick = nil
            if case .stickOffered = condition {
                becomeReady()
                catalogs.catalog.changes.post([.many])
            }
            return true
        }
        let place = try? await (entry.store as? FolderStore)?.identity()
        if comparedStick?.standing != standing || comparedStick?.place != place {
            comparedStick = (standing, place)
            if await sticks.recognise(marks) {
                becomeReady()
                return true
            }
        }
        let error = FolderStore.unadopted(name)
        condition = .stickOffered(error)
        if error.sentence != reported {
            reported = error.sentence
            log.notice("\(error)")
            // Pages show the offer.
            catalogs.catalog.changes.post([.many])
        }
        return false
    }

    private func waiting(limit: Int) throws -> [Parcel] {
        try catalogs.catalog.nextUploads(
            to: name, limit: limit, without: underWay.union(passedOver), outside: entry.plan.mount)
    }

    /// Called when there is nothing to send: an inserted stick then has everything, synced, and can be removed.
    private func lookAtStick() {
        guard let mount = entry.plan.mount, entry.plan.mayBePulled, underWay.isEmpty, heldUntil == nil else { return }
        switch condition {
        case .ready: if Self.isDevice(at: mount) { condition = .mayBePulled }
        case .waiting, .unusable, .closed, .mayBePulled, .stickOffered: break
        }
    }

    /// Whether a device is mounted at a path. `/dev/` is checked because the path itself is always a mount in the
    /// service's namespace.
    private static func isDevice(at path: String) -> Bool {
        let mounts = String(decoding: (try? FileSystem().contents("/proc/self/mounts")) ?? [], as: UTF8.self)
        let line = mounts.split(separator: "\n").map { $0.split(separator: " ") }.last { $0.count > 1 && $0[1] == path }
        return line.map { $0[0].hasPrefix("/dev/") } ?? false
    }

    /// Whether a take may be begun now. Updates the condition by the hours in the settings.
    private func mayBegin() -> Bool {
        guard !board.isPaused else { return false }
        let now = SystemClock().wallTime()
        let opening = window.opening(from: now)
        guard opening <= now else {
            condition = .closed(until: .now + .microseconds(opening.microseconds - now.microseconds))
            return false
        }
        switch condition {
        case .ready: return true
        case .closed, .mayBePulled:
            condition = .ready
            return true
        case .waiting(_, let until): return until <= .now
        case .unusable, .stickOffered: return false
        }
    }

    /// Whether a certificate can be checked. True if the store does not need the clock.
    private func canTrust() async -> Bool {
        guard entry.plan.needsClock, await !isClockSet() else { return true }
        let error = ClockedStore.error(name)
        condition = .waiting(error, until: .now + Self.clockPause)
        if error.sentence != reported {
            reported = error.sentence
            log.warning("\(error)")
        }
        return false
    }

    private func send(_ parcel: Parcel) async {
        defer { catalogs.inHand.endSending(parcel.id) }
        let outcome: Result<Void, any Error>
        do {
            switch parcel.content {
            case .take(let take): try await send(take)
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        mailbox.yield(.finished(parcel, outcome))
    }

    private func send(_ take: LocatedTake) async throws {
        do {
            try await checkSound(take.take, take.folder, .changed)
            let notes = (try? catalogs.catalog.notes(of: take.identity)) ?? TakeNotes(take: take.take.stem)
            // A person may have decided otherwise since the take was chosen. It cannot be deleted from now on.
            guard notes.upload == nil else { throw CancellationError() }
            let delivery = TakeDelivery(
                take.take, in: TakesFolder(path: take.folder), to: entry.store, reader: reader, throttle: throttle)
            let (board, name, identity) = (board, name, take.identity)
            _ = try await delivery.run(
                notes, now: { SystemClock().wallTime() },
                report: { progress in board.update(name) { $0.sending[.take(identity)] = progress } },
                save: { change in try await self.note(identity, change) })
        } catch let error as StoreError where error.problem == .unreadable {
            // A file turned out to have different content. Bit rot changes neither length nor timestamp, so the whole
            // take is compared.
            try await checkSound(take.take, take.folder, .all)
            throw error
        }
    }

    private func note(_ take: TakeIdentity, _ change: @Sendable (inout TakeNotes) -> Void) throws {
        _ = try catalogs.catalog.note(take, change)
        // A receipt gets a file when that file has arrived.
        var noted = TakeNotes(take: take.stem)
        change(&noted)
        if noted.receipts.contains(where: { !$0.files.isEmpty }) { mailbox.yield(.arrived(.take(take))) }
    }

    // MARK: Time

    /// Sets the timer to the next due time.
    private func setTimer() {
        timer?.cancel()
        timer = nil
        var due: [Duration] = []
        switch condition {
        case .waiting(_, let until), .closed(let until): due.append(until - .now)
        case .ready, .mayBePulled, .unusable, .stickOffered: break
        }
        if isCatalogFailing { due.append(Self.catalogPause) } else { reportedOfCatalog = "" }
        if let heldUntil {
            due.append(.microseconds(heldUntil.microseconds - SystemClock().wallTime().microseconds))
        }
        // Times in the past wait for another event: a take being sent, or a person.
        guard let next = due.filter({ $0 > .zero }).min() else { return }
        timer = Task { [mailbox] in
            try? await Task.sleep(for: max(.seconds(1), next))
            if !Task.isCancelled { mailbox.yield(.event(.time)) }
        }
    }

    /// Runs an operation on the catalog. After a failure, for example on a full disk, it is used again after
    /// `catalogPause`.
    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            isCatalogFailing = true
            guard "\(error)" != reportedOfCatalog else { return }
            reportedOfCatalog = "\(error)"
            log.error("outbox: \(error)")
        }
    }
}

extension StoreError {
    /// The time for which a take is held if one of its files is too long for the store.
    private static let rejectedHold = Duration.seconds(6 * 3600)

    /// When a take that failed with this error is tried again.
    fileprivate func retry(chance: Double) -> ParcelStanding.Retry {
        switch problem {
        case .conflict: .byPersonOnly
        case .rejected: .after(Self.rejectedHold)
        case .away, .busy, .refused, .full, .damaged, .unreadable, .missing, .hidden, .unadopted:
            .afterBackOff(chance: chance)
        }
    }
}
