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
/// What fails for a take alone holds that take. What fails for the store makes all takes wait, longer each time; a network or a stick that
/// comes, or a person, ends the wait.
actor Sender: Service {
    /// What happens outside.
    enum Event: Sendable {
        /// Takes came or changed.
        case takes
        /// A network or a storage came or went: what was away may be there.
        case surroundings
        /// A person wants everything to be attempted now.
        case retry
        /// Something is to be looked at again.
        case time
        fileprivate enum Outcome: Sendable {
            case sent
            case failed(any Error)
        }
    }

    private enum Message: Sendable {
        case event(Event)
        case finished(QueuedUpload, Event.Outcome)
    }

    private let entry: Stores.Entry
    private let catalogs: CatalogSlot
    private let board: OutboxBoard
    private let window: UploadWindow
    private let reader: DiskReader
    private let throttle: Throttle?
    private let recorder: RecorderLink
    private let log: Logger
    private let executor: ThreadExecutor
    private nonisolated let messages: AsyncStream<Message>
    private nonisolated let mailbox: AsyncStream<Message>.Continuation

    private var condition = OutboxBoard.Condition.ready {
        didSet { board.update(name) { [condition] in $0.condition = condition } }
    }
    /// Failures of the store, one after the other.
    private var failures = 0
    private var underWay: Set<String> = []
    private var stick = Stick.unused
    private var timer: Task<Void, Never>?
    private var reported = ""
    /// When the next take is attempted again that is held for a time.
    private var heldUntil: WallTime?
    /// The file by which a stick is asked to be unmounted; nil: takes are recorded on it, and a person gives it back.
    private let eject: String?

    private enum Stick: Equatable {
        /// Nothing was sent to it.
        case unused
        case used
        /// It was asked to be unmounted.
        case released(device: String)
    }

    /// How many takes are sent at a time.
    static let mostAtATime = 4
    private static let longestWait = Duration.seconds(3600)
    private static let shortestWait = Duration.seconds(5)
    /// How often it looks whether a stick that may be pulled was pulled.
    private static let glance = Duration.seconds(30)

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
    private var name: String { entry.store.name }

    init(
        _ entry: Stores.Entry, _ catalogs: CatalogSlot, board: OutboxBoard, window: UploadWindow, reader: DiskReader,
        throttle: Throttle?, recorder: RecorderLink, eject: String?, log: Logger
    ) throws {
        self.entry = entry
        self.catalogs = catalogs
        self.board = board
        self.window = window
        self.reader = reader
        self.throttle = throttle
        self.recorder = recorder
        self.eject = eject
        self.log = log
        executor = try ThreadExecutor(name: "sender")
        (messages, mailbox) = AsyncStream.makeStream(of: Message.self)
    }

    /// Reports something that happened outside. May be called by any thread.
    nonisolated func post(_ event: Event) { mailbox.yield(.event(event)) }

    /// Sends until the library is to end.
    func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                // What is away has nothing to be tidied.
                try? await entry.store.tidy()
                post(.takes)
                for await message in messages {
                    await handle(message)
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

    private func handle(_ message: Message) async {
        switch message {
        case .event(.takes), .event(.time): lookAtStick()
        case .event(.surroundings):
            lookAtStick()
            if case .mayBePulled = condition { break }
            becomeReady()
        case .event(.retry):
            becomeReady()
        case .finished(let upload, let outcome):
            underWay.remove(upload.take.stem)
            board.update(name) { standing in
                standing.sending[upload.take.stem] = nil
                if case .failed = outcome { standing.hasWaiting = true }
            }
            switch outcome {
            case .sent:
                stick = .used
                becomeReady()
                log.info("outbox: \(upload.take.stem): is at \(name)")
            case .failed(let error): failed(upload, error)
            }
        }
    }

    private func becomeReady() {
        failures = 0
        reported = ""
        condition = .ready
    }

    private func failed(_ upload: QueuedUpload, _ error: any Error) {
        switch error {
        case is CancellationError, is Catalog.NoSuchTake: return
        case let error as StoreError where error.isOfTake: hold(upload, error)
        case let error as StoreError: wait(for: error)
        default: wait(for: StoreError(.away, "outbox: \(name): \(error)"))
        }
    }

    /// Holds one take: for a time that grows, or, if nothing but a person can help, until that person says so.
    private func hold(_ upload: QueuedUpload, _ error: StoreError) {
        let attempts = upload.attempts + 1
        let until = error.problem == .conflict ? nil : SystemClock().wallTime() + Self.backOff(attempts)
        log.warning("\(error): \(upload.take.stem) is held")
        attempt {
            try catalogs.catalog.hold(
                upload.take.stem, for: name, why: error.sentence, until: until, attempts: attempts)
        }
    }

    /// Lets all takes wait.
    private func wait(for error: StoreError) {
        failures += 1
        var wait = Self.backOff(failures)
        if case .busy(let least?) = error.problem { wait = max(wait, min(least, Self.longestWait)) }
        condition = .waiting(error, until: .now + wait)
        guard error.sentence != reported else { return }
        reported = error.sentence
        log.warning("\(error): its takes wait")
    }

    /// How long is waited after failures: 5 s, then twice as long each time, an hour at most, less up to a half by chance.
    static func backOff(_ failures: Int) -> Duration {
        let longest = min(longestWait, shortestWait * (1 << min(failures - 1, 12)))
        return longest * Double.random(in: 0.5...1)
    }

    // MARK: Sending

    private func fill(_ group: inout DiscardingTaskGroup) async {
        var next: [QueuedUpload] = []
        attempt {
            heldUntil = try catalogs.catalog.releaseHeld(of: name, now: SystemClock().wallTime())
            next = try catalogs.catalog.nextUploads(
                to: name, limit: max(1, Self.mostAtATime - underWay.count), without: underWay, outside: entry.mount)
        }
        let hasWaiting = !next.isEmpty
        board.update(name) { $0.hasWaiting = hasWaiting }
        if !hasWaiting, underWay.isEmpty, entry.mount != nil, stick == .used { release() }
        guard hasWaiting, underWay.count < Self.mostAtATime, isOpen else { return }
        if entry.needsClock, await !recorder.isClockSet {
            condition = .waiting(
                StoreError(
                    .away,
                    "outbox: \(name): the clock is not set, so that no certificate can be checked: takes wait for it"),
                until: .now + .seconds(60))
            return
        }
        // After a failure one take shows whether the store is there again.
        if failures > 0 { next = Array(next.prefix(underWay.isEmpty ? 1 : 0)) }
        for upload in next {
            underWay.insert(upload.take.stem)
            board.update(name) { $0.sending[upload.take.stem] = .sending(0, of: upload.byteCount) }
            group.addTask { await self.send(upload) }
        }
    }

    /// Follows a stick that was asked to be unmounted: unmounted, pulled, another one in its place.
    private func lookAtStick() {
        guard case .released(let device) = stick, let mount = entry.mount else { return }
        let isMounted = Self.device(at: mount) != nil
        let isThere = unsafe access("/sys/class/block/\(device)", F_OK) == 0
        switch condition {
        case .mayBePulled:
            guard isMounted || !isThere else { return }
            stick = .unused
            becomeReady()
        case .ready, .waiting, .closed: if !isMounted { condition = .mayBePulled }
        }
    }

    /// The device that is mounted at a path, without its folder; nil: none. The folder itself is a mount in the service's namespace.
    private static func device(at path: String) -> String? {
        let mounts = String(decoding: (try? FileSystem().contents("/proc/self/mounts")) ?? [], as: UTF8.self)
        let lines = mounts.split(separator: "\n").map { $0.split(separator: " ") }
        guard let line = lines.last(where: { $0.count > 1 && $0[1] == path }), line[0].hasPrefix("/dev/") else {
            return nil
        }
        return line[0].split(separator: "/").last.map(String.init)
    }

    private var isOpen: Bool {
        guard !board.isPaused else { return false }
        let minute = Self.minuteOfDay()
        guard window.contains(minuteOfDay: minute) else {
            let opens = (1...1440).first { window.contains(minuteOfDay: (minute + $0) % 1440) } ?? 1440
            condition = .closed(until: .now + .seconds(60 * opens))
            return false
        }
        switch condition {
        case .ready: return true
        // What was recorded since waits for the next stick.
        case .mayBePulled: return false
        case .closed:
            condition = .ready
            return true
        case .waiting(_, let until): return until <= .now
        }
    }

    private static func minuteOfDay() -> Int {
        var now = time_t(SystemClock().wallTime().microseconds / 1_000_000)
        var local = unsafe tm()
        unsafe localtime_r(&now, &local)
        return unsafe Int(local.tm_hour) * 60 + Int(local.tm_min)
    }

    private func send(_ upload: QueuedUpload) async {
        let outcome: Event.Outcome
        do {
            let notes = (try? catalogs.catalog.notes(of: upload.take.stem)) ?? TakeNotes(take: upload.take.stem)
            let delivery = TakeDelivery(
                upload.take, in: TakesFolder(path: upload.folder), to: entry.store, reader: reader, throttle: throttle)
            let (board, name, stem) = (board, name, upload.take.stem)
            _ = try await delivery.run(
                notes, now: { SystemClock().wallTime() },
                report: { progress in board.update(name) { $0.sending[stem] = progress } },
                save: { change in try await self.note(stem, change) })
            outcome = .sent
        } catch {
            outcome = .failed(error)
        }
        mailbox.yield(.finished(upload, outcome))
    }

    private func note(_ take: String, _ change: @Sendable (inout TakeNotes) -> Void) throws {
        _ = try catalogs.catalog.note(take, change)
    }

    /// Gives the stick back: everything is on it.
    private func release() {
        guard let eject, let mount = entry.mount, let device = Self.device(at: mount),
            (try? catalogs.catalog.hasHeld(name)) == false
        else { return }
        stick = .released(device: device)
        do throws(FileError) {
            _ = try FileSystem().create(eject, isNew: false)
            log.info("outbox: all takes are on the stick: it is unmounted")
        } catch {
            log.warning("outbox: the stick cannot be unmounted: \(error)")
        }
    }

    // MARK: Time

    /// Wakes up when something that is waited for is due.
    private func setTimer() {
        timer?.cancel()
        timer = nil
        var due: [Duration] = []
        switch condition {
        case .waiting(_, let until), .closed(let until): due.append(until - .now)
        case .mayBePulled: due.append(Self.glance)
        case .ready: break
        }
        if let heldUntil {
            due.append(.microseconds(heldUntil.microseconds - SystemClock().wallTime().microseconds))
        }
        guard let next = due.min() else { return }
        timer = Task { [mailbox] in
            try? await Task.sleep(for: max(.seconds(1), next))
            if !Task.isCancelled { mailbox.yield(.event(.time)) }
        }
    }

    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            log.error("outbox: \(error)")
        }
    }
}
