import Catalog
import Files
import Glibc
import Settings
import Takes
import Upload

/// Decides which parcels one store is sent, and when. Pure: `Sender` passes events in, carries the actions out, and passes back what they answer.
///
/// A failure of one parcel holds that parcel. A failure of the store makes all parcels wait (`StorePause`), and then others come first
/// (`TurnOrder`); a file that arrives, a stick that comes, or a person ends the wait.
struct SendingState: Sendable {
    /// An event outside of this type.
    enum News: Hashable, Sendable {
        /// Takes came or changed.
        case takes
        /// A storage or a network came or went, so takes or stores may have become available.
        case surroundings
        /// A person wants everything to be attempted now.
        case retry
        /// A time has come that `rest` named.
        case time
    }

    enum Event: Hashable, Sendable {
        // Each of these begins a turn, which ends with `rest`.

        case news(News)
        /// A file of a parcel arrived.
        case arrived(ParcelID)
        /// An attempt ended.
        case ended(Parcel, Outcome)

        // Answers to actions.

        case clock(isSet: Bool)
        case tidied
        case stick(StickFolder.Standing?, at: FileIdentity?)
        case stickRecognised(Bool)
        /// The parcels whose time came wait again; the next one's time comes at `nextRelease`.
        case released(hasWaiting: Bool, nextRelease: WallTime?)
        case waiting([Parcel])
        case held(ParcelID)
        case begun([ParcelID])
        case mounted(isDevice: Bool)
        /// The hold of a parcel could not be noted.
        case holdFailed(String)
        /// The catalog could not be read.
        case catalogFailed(String)
    }

    /// How an attempt ended.
    enum Outcome: Hashable, Sendable {
        case sent
        /// The parcel must not be sent any more.
        case withdrawn
        case failed(StoreError)
    }

    enum Action: Hashable, Sendable {
        case log(Level, String)
        /// Something that lists show has changed.
        case refreshLists
        /// A parcel is at the store.
        case reportSent
        case askClock
        /// Remove the remains of earlier uploads from the store.
        case tidy
        case askStick
        /// Compare what is on a stick with receipts: it is home if it has a take that this kit sent.
        case recogniseStick([StickMark])
        /// Let held parcels wait again whose time has come, and see whether any waits.
        case release(at: WallTime)
        /// Read the parcels that wait.
        case askWaiting(limit: Int, without: Set<ParcelID>)
        case hold(ParcelID, revision: Int, StoreError, ParcelStanding.Retry, at: WallTime)
        /// Begin to send the parcels that are not being deleted.
        case begin([Parcel])
        case askMount
        /// Wait for the next event, at most for this long.
        case rest(Duration?)

        enum Level { case info, notice, warning, error }
    }

    /// The circumstances in which an event is handled.
    struct Moment: Sendable {
        var now: Instant
        var wallTime: WallTime
        /// 0 to 1, by chance.
        var chance: Double
        /// Whether a person has paused the outbox.
        var isPaused: Bool
    }

    /// The properties of the store that do not change.
    struct Plan: Sendable {
        var name: String
        /// Whether it is trusted by a certificate, which a clock that is not set cannot check.
        var needsClock: Bool
        var isOnStick: Bool
        /// Whether its stick may be pulled once it has everything.
        var mayBePulled: Bool
        var window: UploadWindow
    }

    private enum Tidying { case due, done }

    /// The purpose of a request to the clock.
    private enum ClockQuestion { case mayTidy, maySend }

    let plan: Plan
    private(set) var condition = OutboxBoard.Condition.ready
    private(set) var hasWaiting = false
    private(set) var underWay: Set<ParcelID> = []
    private var pause = StorePause()
    private var turns = TurnOrder()
    private var tidying = Tidying.due
    private var clockQuestion = ClockQuestion.mayTidy
    /// Parcels that are left out until the next event: a person has decided otherwise, or their hold cannot be noted.
    private var passedOver: Set<ParcelID> = []
    /// The stick that was compared with receipts, and was not adopted.
    private var comparedStick: ComparedStick?
    /// When the next held parcel is attempted again.
    private var nextRelease: WallTime?
    /// The last reason that was logged: the same sentence is not logged each time.
    private var reported = ""
    private var reportedOfCatalog = ""
    /// Whether the catalog failed in this turn.
    private var isCatalogFailing = false

    private struct ComparedStick: Hashable {
        var standing: StickFolder.Standing
        var place: FileIdentity?
    }

    static let mostAtATime = 4
    /// The pause before the clock is asked again.
    private static let clockPause = Duration.seconds(60)
    /// The pause before a catalog that failed is used again.
    private static let catalogPause = Duration.seconds(60)
    private static let shortestRest = Duration.seconds(1)

    init(_ plan: Plan) { self.plan = plan }

    /// Handles an event.
    /// - Returns: the actions to carry out, in this order. Their answers are the next events.
    mutating func handle(_ event: Event, _ moment: Moment) -> [Action] {
        switch event {
        case .news, .arrived, .ended:
            isCatalogFailing = false
            let actions = note(event, moment)
            // The turn continues once the hold is noted: a later revision of the parcel may be waiting.
            if case .hold? = actions.last { return actions }
            return actions + beginTurn(moment)
        case .clock(let isSet):
            switch clockQuestion {
            case .mayTidy: return isSet ? [.tidy] : release(moment)
            case .maySend: return isSet ? askWaiting() : waitForClock(moment)
            }
        case .tidied:
            tidying = .done
            return release(moment)
        case .released(let hasWaiting, let next):
            (self.hasWaiting, nextRelease) = (hasWaiting, next)
            return plan.isOnStick ? [.askStick] : choose(moment)
        case .stick(let standing, let place): return handle(standing, at: place, moment)
        case .stickRecognised(let isHome):
            guard isHome else { return offerStick() + rest(moment) }
            becomeReady()
            return choose(moment)
        case .waiting(let waiting):
            let chosen = turns.next(free, of: waiting.map(\.id), beside: underWay)
            return [.begin(chosen.compactMap { id in waiting.first { $0.id == id } })]
        case .begun(let ids):
            underWay.formUnion(ids)
            return rest(moment)
        case .mounted(let isDevice):
            if isDevice { condition = .mayBePulled }
            return rest(moment)
        case .held(let id):
            passedOver.remove(id)
            return beginTurn(moment)
        case .holdFailed(let sentence): return catalogFailed(sentence) + beginTurn(moment)
        case .catalogFailed(let sentence): return catalogFailed(sentence) + rest(moment)
        }
    }

    // MARK: What happened

    private mutating func note(_ event: Event, _ moment: Moment) -> [Action] {
        switch event {
        case .news(.takes), .news(.time): passedOver = []
        case .news(.surroundings):
            passedOver = []
            // A network may come and go all day, so `reported` stays.
            pause.reset()
            // A network that comes is not another stick: the lamp stays on.
            if case .stickOffered = condition {} else { condition = .ready }
        case .news(.retry):
            passedOver = []
            pause.reset()
            turns = TurnOrder()
            becomeReady()
        case .arrived(let id):
            pause.succeeded()
            turns.advanced(id)
            if case .waiting = condition { condition = .ready }
        case .ended(let parcel, let outcome):
            underWay.remove(parcel.id)
            return ended(parcel, outcome, moment)
        case .clock, .tidied, .stick, .stickRecognised, .released, .waiting, .begun, .mounted, .held, .holdFailed,
            .catalogFailed:
            break
        }
        return []
    }

    private mutating func ended(_ parcel: Parcel, _ outcome: Outcome, _ moment: Moment) -> [Action] {
        switch outcome {
        case .sent:
            pause.succeeded()
            turns.succeeded(parcel.id)
            becomeReady()
            return [.log(.info, "outbox: \(parcel.id.stem): is at \(plan.name)"), .reportSent]
        case .withdrawn:
            hasWaiting = true
            passedOver.insert(parcel.id)
            return []
        case .failed(let error):
            hasWaiting = true
            if error.isOfTake {
                // Left out until the hold is noted.
                passedOver.insert(parcel.id)
                let retry = error.retry(chance: moment.chance)
                return [
                    .log(.warning, "\(error): \(parcel.id.stem) is held"),
                    .hold(parcel.id, revision: parcel.revision, error, retry, at: moment.wallTime),
                ]
            }
            turns.failed(parcel.id)
            // The stick came after the parcel was begun. It is checked next, and the lamp keeps offering it.
            if error.problem == .unadopted { return [] }
            // Parcels that were under way when the first one failed fail as well: they count once.
            guard let until = pause.failed(error.problem, at: moment.now, chance: moment.chance) else { return [] }
            condition = .waiting(error, until: until)
            return report(.warning, error, "\(error): its takes wait")
        }
    }

    /// The catalog cannot be used, as on a disk that is full. It is used again after a while.
    private mutating func catalogFailed(_ sentence: String) -> [Action] {
        isCatalogFailing = true
        defer { reportedOfCatalog = sentence }
        return sentence == reportedOfCatalog ? [] : [.log(.error, "outbox: \(sentence)")]
    }

    private mutating func becomeReady() {
        reported = ""
        condition = .ready
    }

    private mutating func report(_ level: Action.Level, _ error: StoreError, _ sentence: String) -> [Action] {
        guard error.sentence != reported else { return [] }
        reported = error.sentence
        return [.log(level, sentence)]
    }

    // MARK: A turn

    private mutating func beginTurn(_ moment: Moment) -> [Action] {
        guard case .due = tidying, underWay.isEmpty else { return release(moment) }
        clockQuestion = .mayTidy
        return [plan.needsClock ? .askClock : .tidy]
    }

    private func release(_ moment: Moment) -> [Action] { [.release(at: moment.wallTime)] }

    /// A stick that is not home is compared with receipts once, and then offered.
    private mutating func handle(
        _ standing: StickFolder.Standing?, at place: FileIdentity?, _ moment: Moment
    ) -> [Action] {
        switch standing {
        case nil, .none?, .home?:
            comparedStick = nil
            guard case .stickOffered = condition else { return choose(moment) }
            becomeReady()
            return [.refreshLists] + choose(moment)
        case .other(let marks)?:
            let stick = ComparedStick(standing: .other(marks), place: place)
            guard stick != comparedStick else { return offerStick() + rest(moment) }
            comparedStick = stick
            return [.recogniseStick(marks)]
        }
    }

    private mutating func offerStick() -> [Action] {
        let error = StickFolder.unadopted(plan.name)
        condition = .stickOffered(error)
        let news = report(.notice, error, "\(error)")
        return news.isEmpty ? [] : news + [.refreshLists]
    }

    private var free: Int { Self.mostAtATime - underWay.count }

    /// Chooses parcels, if any may be begun now.
    private mutating func choose(_ moment: Moment) -> [Action] {
        guard hasWaiting else { return finishStick(moment) }
        guard free > 0, mayBegin(moment) else { return rest(moment) }
        guard plan.needsClock else { return askWaiting() }
        clockQuestion = .maySend
        return [.askClock]
    }

    private func askWaiting() -> [Action] {
        [.askWaiting(limit: turns.isUntroubled ? free : .max, without: excluded)]
    }

    /// The parcels that are not chosen.
    var excluded: Set<ParcelID> { underWay.union(passedOver) }

    private mutating func waitForClock(_ moment: Moment) -> [Action] {
        let error = ClockedStore.error(plan.name)
        condition = .waiting(error, until: moment.now + Self.clockPause)
        return report(.warning, error, "\(error)") + rest(moment)
    }

    /// With nothing left to send, a stick has everything, synced, and may be pulled.
    private mutating func finishStick(_ moment: Moment) -> [Action] {
        guard plan.mayBePulled, underWay.isEmpty, nextRelease == nil, case .ready = condition else {
            return rest(moment)
        }
        return [.askMount]
    }

    /// Whether a parcel may be begun now. The condition follows the hours of the settings.
    private mutating func mayBegin(_ moment: Moment) -> Bool {
        guard !moment.isPaused else { return false }
        let opening = plan.window.opening(from: moment.wallTime)
        guard opening <= moment.wallTime else {
            condition = .closed(until: opening)
            return false
        }
        switch condition {
        case .ready: return true
        case .closed, .mayBePulled:
            condition = .ready
            return true
        case .waiting(_, let until): return until <= moment.now
        case .unusable, .stickOffered: return false
        }
    }

    /// Waits until the earliest time at which something is due.
    private mutating func rest(_ moment: Moment) -> [Action] {
        var due: [Duration] = []
        switch condition {
        case .waiting(_, let until): due.append(until - moment.now)
        case .closed(let until): due.append(until - moment.wallTime)
        case .ready, .mayBePulled, .unusable, .stickOffered: break
        }
        if isCatalogFailing { due.append(Self.catalogPause) } else { reportedOfCatalog = "" }
        if let nextRelease { due.append(nextRelease - moment.wallTime) }
        // A time that has passed waits for something else: a parcel that is under way, or a person.
        let next = due.filter { $0 > .zero }.min()
        return [.rest(next.map { max(Self.shortestRest, $0) })]
    }
}

extension SendingState.Outcome {
    /// How an attempt ended that threw.
    /// - Parameter store: its name.
    init(_ error: any Error, at store: String) {
        self =
            switch error {
            case is CancellationError, is Catalog.NoSuchTake: .withdrawn
            case let error as StoreError: .failed(error)
            // The notes of this take cannot be read or written. Others are sent, unless the disk is full.
            case let error as FileError where ![ENOSPC, EDQUOT, EROFS].contains(error.code):
                .failed(StoreError(.unreadable, "outbox: \(error.fact)"))
            default: .failed(StoreError(.away, "outbox: \(store): \(error)"))
            }
    }
}

extension StoreError {
    /// How long a take is held that has a longer file than the store takes.
    private static let rejectedHold = Duration.seconds(6 * 3600)

    /// When a parcel is attempted again that failed by this.
    /// - Parameter chance: 0 to 1.
    func retry(chance: Double) -> ParcelStanding.Retry {
        switch problem {
        case .conflict: .byPersonOnly
        case .rejected: .after(Self.rejectedHold)
        case .away, .busy, .refused, .full, .damaged, .unreadable, .missing, .hidden, .unadopted:
            .afterBackOff(chance: chance)
        }
    }
}
