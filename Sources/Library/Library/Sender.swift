import Catalog
import Files
import Glibc
import Logging
import ServiceLifecycle
import Settings
import TakeFiles
import Takes
import Upload
import Workers

/// Sends the parcels that wait for one store, several at a time, as `SendingState` decides.
actor Sender: Service {
    private enum Message: Sendable {
        case news(SendingState.News)
        /// The store has one more file of a parcel.
        case arrived(ParcelID)
        case ended(Parcel, SendingState.Outcome)
    }

    private let entry: Stores.Entry
    private let catalogs: CatalogSlot
    private let board: OutboxBoard
    private let reader: DiskReader
    private let throttle: Throttle?
    /// Called when a store has one more take.
    private let sent: @Sendable () -> Void
    private let isClockSet: @Sendable () async -> Bool
    private let sticks: StickDesk?
    private let clock: any Clock
    /// Throws unless the sound of a take is what was recorded, or was accepted by a person.
    private let checkSound: @Sendable (TakeName, _ folder: String, SoundInspector.Depth) async throws -> Void
    private let log: Logger
    private let executor: ThreadExecutor
    private nonisolated let messages: AsyncStream<Message>
    private nonisolated let mailbox: AsyncStream<Message>.Continuation

    private var state: SendingState
    private var timer: Task<Void, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
    private var name: String { entry.store.name }

    init(
        _ entry: Stores.Entry, _ catalogs: CatalogSlot, board: OutboxBoard, window: UploadWindow, reader: DiskReader,
        throttle: Throttle?, sticks: StickDesk? = nil, clock: any Clock = SystemClock(),
        isClockSet: @escaping @Sendable () async -> Bool = { true },
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
        self.reader = reader
        self.throttle = throttle
        self.sent = sent
        self.isClockSet = isClockSet
        self.sticks = sticks
        self.clock = clock
        self.log = log
        state = SendingState(
            .init(
                name: entry.store.name, needsClock: entry.plan.needsClock,
                isOnStick: sticks != nil && entry.store.traits.stick != nil,
                mayBePulled: entry.plan.mayBePulled && entry.plan.mount != nil, window: window))
        executor = try ThreadExecutor(name: "sender")
        (messages, mailbox) = AsyncStream.makeStream(of: Message.self)
    }

    /// Reports an event. Thread-safe.
    nonisolated func post(_ news: SendingState.News) { mailbox.yield(.news(news)) }

    /// Sends until shutdown.
    func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                post(.takes)
                for await message in messages { await handle(message, &group) }
                group.cancelAll()
            }
            timer?.cancel()
            await entry.store.close()
        } onGracefulShutdown: {
            self.mailbox.finish()
        }
    }

    private func handle(_ message: Message, _ group: inout DiscardingTaskGroup) async {
        var ended: ParcelID?
        var events: [SendingState.Event]
        switch message {
        case .news(let news): events = [.news(news)]
        case .arrived(let id): events = [.arrived(id)]
        case .ended(let parcel, let outcome):
            ended = parcel.id
            events = [.ended(parcel, outcome)]
        }
        while !events.isEmpty {
            let actions = state.handle(
                events.removeFirst(),
                .init(
                    now: clock.now(), wallTime: clock.wallTime(), chance: .random(in: 0...1), isPaused: board.isPaused))
            // In one step, so that a lamp does not flash between two of them.
            board.update(name) { [state] standing in
                if let ended { standing.sending[ended] = nil }
                (standing.condition, standing.hasWaiting) = (state.condition, state.hasWaiting)
            }
            for action in actions {
                if let answer = await carryOut(action, &group) { events.append(answer) }
            }
        }
    }

    /// - Returns: the answer, or nil if there is none.
    private func carryOut(
        _ action: SendingState.Action, _ group: inout DiscardingTaskGroup
    ) async -> SendingState.Event? {
        let catalog = catalogs.catalog
        switch action {
        case .log(let level, let sentence): log.log(level: Logger.Level(level), "\(sentence)")
        case .refreshLists: catalog.changes.post([.many])
        case .reportSent: sent()
        case .askClock: return .clock(isSet: await isClockSet())
        case .tidy:
            // A store that is away is not tidied. A server that does not answer must not keep the library from ending.
            _ = try? await cancelWhenGracefulShutdown { [store = entry.store] in try await store.tidy() }
            return .tidied
        case .askStick:
            return .stick(await entry.store.traits.stick?.standing(), at: try? await entry.store.place())
        case .recogniseStick(let marks): return .stickRecognised(await sticks?.recognise(marks) ?? false)
        case .release(let time):
            return asking {
                let next = try catalog.releaseHeld(of: name, now: time)
                return .released(
                    hasWaiting: try !waiting(limit: 1, without: state.excluded).isEmpty, nextRelease: next)
            }
        case .askWaiting(let limit, let excluded):
            return asking { .waiting(try waiting(limit: limit, without: excluded)) }
        case .hold(let id, let revision, let error, let retry, let time):
            do {
                try catalog.failed(id, of: revision, for: name, why: error.sentence, retry, at: time)
                return .held(id)
            } catch {
                return .holdFailed("\(error)")
            }
        case .begin(let parcels):
            let begun = parcels.filter { catalogs.inHand.beginSending($0.id) }
            for parcel in begun {
                // It is shown once the store has answered. A lamp must not flash at each attempt while a store is away.
                group.addTask { await self.send(parcel) }
            }
            return .begun(begun.map(\.id))
        case .askMount: return .mounted(isDevice: entry.plan.mount.map(Self.isDevice) ?? false)
        case .rest(let duration): setTimer(duration)
        }
        return nil
    }

    private func waiting(limit: Int, without excluded: Set<ParcelID>) throws -> [Parcel] {
        try catalogs.catalog.nextUploads(to: name, limit: limit, without: excluded, outside: entry.plan.mount)
    }

    private func asking(_ body: () throws -> SendingState.Event) -> SendingState.Event {
        do { return try body() } catch { return .catalogFailed("\(error)") }
    }

    private func setTimer(_ duration: Duration?) {
        timer?.cancel()
        timer = duration.map { duration in
            Task { [mailbox] in
                try? await Task.sleep(for: duration)
                if !Task.isCancelled { mailbox.yield(.news(.time)) }
            }
        }
    }

    /// Whether a device is mounted at a path. `/dev/` is checked because the path itself is always a mount in the
    /// service's namespace.
    private static func isDevice(at path: String) -> Bool {
        let mounts = String(decoding: (try? FileSystem().contents("/proc/self/mounts")) ?? [], as: UTF8.self)
        let line = mounts.split(separator: "\n").map { $0.split(separator: " ") }.last { $0.count > 1 && $0[1] == path }
        return line.map { $0[0].hasPrefix("/dev/") } ?? false
    }

    /// Sends a parcel that is in hand.
    private func send(_ parcel: Parcel) async {
        defer { catalogs.inHand.endSending(parcel.id) }
        let outcome: SendingState.Outcome
        do {
            switch parcel.content {
            case .take(let take): try await send(take)
            }
            outcome = .sent
        } catch {
            outcome = .init(error, at: name)
        }
        mailbox.yield(.ended(parcel, outcome))
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
                notes, now: { [clock] in clock.wallTime() },
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
}

extension Logger.Level {
    fileprivate init(_ level: SendingState.Action.Level) {
        self =
            switch level {
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            }
    }
}
