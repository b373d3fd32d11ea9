import DiskCalls
import GRDB
import SeededRandom
import Settings
import Takes
import Testing
import Upload

@testable import Catalog
@testable import Library

/// Things happen to an outbox at random: takes come, people decide, the store, the stick, the clock and the catalog fail. `SendingState` decides,
/// and a few rules say what it may do, and by when.
@Suite(.waitsOnNamedThreads) struct SendingModelTests {
    /// 20 × 500 events.
    @Test(arguments: 1...full(400, usually: 20))
    func `whatever happens, each parcel comes home exactly once, and none waits longer than it must`(seed: Int) throws {
        var chance = SeededRandom(seed: UInt64(seed))
        var model = OutboxModel(&chance)
        for step in 1...500 {
            do {
                try model.happen(&chance)
            } catch {
                Issue.record(
                    "seed \(seed), step \(step): \(error)\n\(model.history.suffix(20).joined(separator: "\n"))")
                return
            }
        }
        do {
            try model.finish(&chance)
        } catch {
            Issue.record("seed \(seed), at the end: \(error)\n\(model.history.suffix(40).joined(separator: "\n"))")
        }
        #expect(model.sentCount >= 20, "seed \(seed)")
    }
}

private struct Broken: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

private struct OutboxModel {
    /// The expected state of a parcel by the rules. `rows` has the same as the catalog keeps it.
    fileprivate struct Line {
        var standing: ParcelStanding
        var revision = 1
        var stage = Stage.waiting
        var failures = 0
        /// The revisions that the store has, and how often it took each of them.
        var home: [Int: Int] = [:]

        enum Stage: Equatable {
            case waiting
            case held(until: WallTime?)
            case byHand, done, never
        }
    }

    private enum Store { case works, away, refuses }
    private enum Stick { case home, other, none }

    private let mark = StickMark("0123456789abcdef0123456789abcdef")!
    private static let window = UploadWindow("20:00-06:00")!

    private(set) var history: [String] = []
    private(set) var sentCount = 0
    private var state: SendingState
    private var rows: [ParcelID: Line] = [:]
    /// In the order in which they came.
    private var order: [ParcelID] = []
    private var underWay: [Parcel] = []
    private var deleted: Set<ParcelID> = []
    private var now = Instant(nanoseconds: 1_000_000_000_000)
    private var wallTime = WallTime(iso8601: "2026-11-21T18:00:00.000000Z")!
    private var isPaused = false
    private var isClockSet = true
    private var isCatalogFailing = false
    private var store = Store.works
    private var stick = Stick.home
    private var number = 1000
    /// The end of the last turn.
    private var rest: Duration?

    init(_ chance: inout SeededRandom) {
        state = SendingState(
            .init(
                name: "store", needsClock: chance.once(in: 2), isOnStick: chance.once(in: 2),
                mayBePulled: chance.once(in: 2), window: chance.once(in: 2) ? .always : Self.window))
    }

    // MARK: Events

    mutating func happen(_ chance: inout SeededRandom) throws {
        // Troubles end at some time.
        if chance.once(in: 12) { (store, isCatalogFailing) = (.works, false) }
        switch chance.below(24) {
        case 0...3: try add(&chance)
        case 4: try revise(&chance)
        case 5: try decide(&chance)
        case 6:
            for id in order { rows[id]?.retry() }
            try turn(.news(.retry), &chance)
        case 7:
            store = chance.pick([.works, .works, .away, .refuses])
            try turn(.news(.surroundings), &chance)
        case 8: store = chance.pick([.works, .away, .refuses])
        case 9:
            isPaused.toggle()
            try turn(.news(isPaused ? .takes : .retry), &chance)
        case 10: isClockSet = !chance.once(in: 3)
        case 11:
            stick = chance.pick([.home, .home, .other, .none])
            try turn(.news(.surroundings), &chance)
        case 12: isCatalogFailing = chance.once(in: 2)
        case 13: try delete(&chance)
        case 14...16: try wait(&chance)
        default: try attempt(&chance)
        }
    }

    /// All troubles end. Everything that nobody holds comes home, in the longest time that a parcel may be held.
    mutating func finish(_ chance: inout SeededRandom) throws {
        (store, stick, isClockSet, isCatalogFailing, isPaused) = (.works, .home, true, false, false)
        deleted = []
        let end = wallTime + ParcelStanding.longestHold + .seconds(24 * 3600)
        try turn(.news(.surroundings), &chance)
        var count = 0
        while rows.values.contains(where: { $0.isDue }) || !underWay.isEmpty {
            count += 1
            guard wallTime < end, count < 20_000 else { throw Broken("not all came home") }
            if underWay.isEmpty { try wait(&chance) } else { try attempt(&chance, works: true) }
        }
        for (id, row) in rows {
            guard row.home.values.allSatisfy({ $0 == 1 }) else {
                throw Broken("\(id.stem) came home twice: \(row.home)")
            }
            guard row.stage != .done || row.home[row.revision] == 1 else { throw Broken("\(id.stem) is not at home") }
        }
    }

    private mutating func add(_ chance: inout SeededRandom) throws {
        let id = ParcelID.take(TakeIdentity(stem: "heron07-\(number)_20261121_180000"))
        number += 1
        order.append(id)
        rows[id] = Line(standing: ParcelStanding(.init(revision: 1))!)
        try turn(.news(.takes), &chance)
    }

    private mutating func revise(_ chance: inout SeededRandom) throws {
        guard let id = order.randomElement(using: &chance), var row = rows[id] else { return }
        row.revision += 1
        let facts = ParcelStanding.Facts(revision: row.revision, decision: row.decision)
        row.standing = ParcelStanding(facts, after: row.standing)!
        if row.decision == nil { (row.stage, row.failures) = (.waiting, 0) }
        rows[id] = row
        try turn(.news(.takes), &chance)
    }

    private mutating func decide(_ chance: inout SeededRandom) throws {
        guard let id = order.randomElement(using: &chance), var row = rows[id] else { return }
        let (decision, stage) = chance.pick(
            [(nil, .waiting), (.hold, .byHand), (.never, .never)] as [(TakeNotes.UploadChoice?, Line.Stage)])
        // Files in the store stay there.
        guard row.stage != .done else { return }
        row.standing = ParcelStanding(.init(revision: row.revision, decision: decision))!
        (row.stage, row.failures) = (stage, 0)
        rows[id] = row
        try turn(.news(decision == nil ? .retry : .takes), &chance)
    }

    private mutating func delete(_ chance: inout SeededRandom) throws {
        // Nobody deletes what is being sent.
        // Fewer are deleted at a time than are sent: others can always begin.
        if deleted.count == SendingState.mostAtATime - 1 || chance.once(in: 2),
            let id = deleted.randomElement(using: &chance)
        {
            deleted.remove(id)
            rows[id] = nil
            order.removeAll { $0 == id }
        } else if let id = order.randomElement(using: &chance), !underWay.contains(where: { $0.id == id }) {
            deleted.insert(id)
        }
        try turn(.news(.takes), &chance)
    }

    /// Time goes by: until the time that the last turn named, or less.
    private mutating func wait(_ chance: inout SeededRandom) throws {
        try checkRows()
        guard let rest else {
            guard !isFree || !underWay.isEmpty || !order.contains(where: isExpected) else {
                throw Broken("it waits for ever")
            }
            pass(.seconds(chance.below(600)))
            return
        }
        if chance.once(in: 4) {
            pass(.nanoseconds(Int64(chance.next() % UInt64(rest.nanoseconds))))
        } else {
            pass(rest)
            try turn(.news(.time), &chance)
        }
    }

    private mutating func pass(_ duration: Duration) {
        now = now + duration
        wallTime = wallTime + duration
        // Its time comes at a later event, if no timer was set for it.
        rest = rest.map { max(.nanoseconds(1), $0 - duration) }
        history.append("\(duration) go by")
    }

    /// Something happens to one of the parcels that are under way.
    private mutating func attempt(_ chance: inout SeededRandom, works: Bool = false) throws {
        guard !underWay.isEmpty else { return }
        let index = chance.below(underWay.count)
        let parcel = underWay[index]
        if chance.once(in: 3), store == .works { return try turn(.arrived(parcel.id), &chance) }
        underWay.remove(at: index)
        let isWanted = rows[parcel.id].map { $0.decision == nil } ?? false
        let outcome: SendingState.Outcome
        switch store {
        case _ where !isWanted: outcome = .withdrawn
        case .away: outcome = .failed(StoreError(.away, "outbox: store: away"))
        case .refuses:
            outcome = .failed(StoreError(chance.pick([.refused, .full, .busy(.seconds(60))]), "outbox: store: no"))
        case .works where !works && chance.once(in: 6):
            outcome = .failed(
                StoreError(chance.pick([.conflict, .rejected, .damaged, .hidden]), "outbox: \(parcel.id.stem)"))
        case .works:
            // A file in the store is recognised by its hash, and not stored again.
            if rows[parcel.id]?.home[parcel.revision] == nil { rows[parcel.id]?.home[parcel.revision] = 1 }
            // The answer may be lost.
            outcome = !works && chance.once(in: 8) ? .failed(StoreError(.away, "outbox: store: no answer")) : .sent
        }
        if outcome == .sent, rows[parcel.id]?.revision == parcel.revision {
            rows[parcel.id]?.standing = ParcelStanding(
                .init(revision: parcel.revision, presence: .complete(unverified: nil)))!
            rows[parcel.id]?.stage = .done
            sentCount += 1
        }
        try turn(.ended(parcel, outcome), &chance)
    }

    /// Whether a parcel must come home without another event: it is not sent or deleted, and no decision holds it.
    private func isExpected(_ id: ParcelID) -> Bool {
        rows[id]?.isDue == true && !deleted.contains(id) && !state.excluded.contains(id)
    }

    // MARK: Actions

    /// Whether no outer condition prevents parcels from being begun.
    private var isFree: Bool {
        !isPaused && !isCatalogFailing && (isClockSet || !state.plan.needsClock)
            && (stick != .other || !state.plan.isOnStick)
    }

    private mutating func turn(_ event: SendingState.Event, _ chance: inout SeededRandom) throws {
        history.append("\(event)".prefix(160).description)
        var (events, rests) = ([event], [Duration?]())
        while !events.isEmpty {
            let moment = SendingState.Moment(
                now: now, wallTime: wallTime, chance: Double(chance.below(1000)) / 1000, isPaused: isPaused)
            for action in state.handle(events.removeFirst(), moment) {
                if case .rest(let duration) = action { rests.append(duration) }
                history.append("  \(action)".prefix(160).description)
                if let answer = try carryOut(action, &chance) { events.append(answer) }
            }
        }
        guard rests.count == 1 else { throw Broken("a turn ends once, not \(rests.count) times") }
        rest = rests[0]
        guard state.underWay == Set(underWay.map(\.id)) else { throw Broken("another idea of what is under way") }
        guard underWay.count <= SendingState.mostAtATime else { throw Broken("\(underWay.count) at a time") }
        try checkWait()
    }

    /// Checks that the catalog's rows have the state that the rules require.
    private func checkRows() throws {
        for (id, row) in rows where "\(row.standing.values)".hasPrefix("[\"waiting\"") != (row.stage == .waiting) {
            throw Broken("\(id.stem): the rules say \(row.stage), the row says \(row.standing)")
        }
    }

    /// Nothing waits without a reason, or longer than that reason lasts.
    private func checkWait() throws {
        if let rest, rest < .seconds(1) || rest > .seconds(24 * 3600) { throw Broken("it rests for \(rest)") }
        guard isFree, underWay.isEmpty else { return }
        let waiting = order.filter {
            rows[$0]?.stage == .waiting && !deleted.contains($0) && !state.excluded.contains($0)
        }
        guard !waiting.isEmpty else {
            // A parcel that is held for a time is attempted again afterwards.
            let next = rows.values.compactMap { if case .held(let until?) = $0.stage { until - wallTime } else { nil } }
                .min()
            guard let next, next > .zero else { return }
            guard let rest, rest <= max(.seconds(1), next) else { throw Broken("a held parcel is forgotten") }
            return
        }
        switch state.condition {
        case .waiting(_, let until):
            guard until > now, until - now <= StorePause.longest, let rest, rest <= max(.seconds(1), until - now) else {
                throw Broken("it waits too long for the store")
            }
        case .closed(let opening):
            guard opening == Self.window.opening(from: wallTime), opening > wallTime, let rest,
                rest <= max(.seconds(1), opening - wallTime)
            else { throw Broken("it misses the hours") }
        case .ready, .mayBePulled, .unusable, .stickOffered:
            throw Broken("\(waiting.map(\.stem)) could begin: \(state.condition)")
        }
    }

    private mutating func carryOut(_ action: SendingState.Action, _ chance: inout SeededRandom) throws -> SendingState
        .Event?
    {
        switch action {
        case .log, .refreshLists, .reportSent, .rest: return nil
        case .askClock: return .clock(isSet: isClockSet)
        case .tidy:
            guard underWay.isEmpty else { throw Broken("what is under way would be removed") }
            return .tidied
        case .askStick:
            switch stick {
            case .none: return .stick(StickFolder.Standing.none, at: nil)
            case .home: return .stick(.home(mark), at: nil)
            case .other: return .stick(.other([]), at: nil)
            }
        case .recogniseStick:
            let isHome = chance.once(in: 4)
            if isHome { stick = .home }
            return .stickRecognised(isHome)
        case .release(let time):
            guard !isCatalogFailing else { return .catalogFailed("disk I/O error") }
            for id in order { rows[id]?.release(at: time) }
            let next = rows.values.compactMap { if case .held(let until?) = $0.stage { until } else { nil } }.min()
            return .released(hasWaiting: !waiting(without: state.excluded).isEmpty, nextRelease: next)
        case .askWaiting(let limit, let excluded):
            guard !isCatalogFailing else { return .catalogFailed("disk I/O error") }
            return .waiting(Array(waiting(without: excluded).prefix(limit)))
        case .hold(let id, let revision, let error, let retry, let time):
            guard !isCatalogFailing else { return .holdFailed("disk I/O error") }
            rows[id]?.fail(error, retry, of: revision, at: time)
            return .held(id)
        case .begin(let parcels):
            let begun = parcels.filter { !deleted.contains($0.id) }
            for parcel in begun { try checkBegin(parcel) }
            underWay += begun
            return .begun(begun.map(\.id))
        case .askMount: return .mounted(isDevice: true)
        }
    }

    private func waiting(without excluded: Set<ParcelID>) -> [Parcel] {
        order.compactMap { id -> Parcel? in
            guard case .take(let identity) = id, let row = rows[id], row.stage == .waiting, !excluded.contains(id),
                let take = LocatedTake([
                    "take": identity.stem, "day": "2026-11-21", "origin": identity.origin.description,
                    "path": "/takes",
                ])
            else { return nil }
            return Parcel(content: .take(take), revision: row.revision)
        }
    }

    private func checkBegin(_ parcel: Parcel) throws {
        guard let row = rows[parcel.id], row.stage == .waiting, row.revision == parcel.revision else {
            throw Broken("\(parcel.id.stem) does not wait")
        }
        guard !underWay.contains(where: { $0.id == parcel.id }) else {
            throw Broken("\(parcel.id.stem) is begun twice")
        }
        guard isFree else { throw Broken("\(parcel.id.stem) must not be begun now") }
        guard state.plan.window.opening(from: wallTime) == wallTime else {
            throw Broken("it is begun outside the hours")
        }
        if case .waiting(_, let until) = state.condition, until > now {
            throw Broken("it is begun before the pause ends")
        }
    }
}

extension OutboxModel.Line {
    /// Whether it must come home without a person's help.
    fileprivate var isDue: Bool {
        switch stage {
        case .waiting: true
        case .held(let until): until != nil
        case .byHand, .done, .never: false
        }
    }

    fileprivate var decision: TakeNotes.UploadChoice? {
        switch stage {
        case .byHand: .hold
        case .never: .never
        case .waiting, .held, .done: nil
        }
    }

    fileprivate mutating func fail(_ error: StoreError, _ retry: ParcelStanding.Retry, of tried: Int, at time: WallTime)
    {
        standing.failed(error.sentence, retry, of: tried, at: time)
        guard stage == .waiting, revision == tried else { return }
        failures += 1
        switch retry {
        case .afterBackOff(let chance): stage = .held(until: time + ParcelStanding.backOff(failures, chance: chance))
        case .after(let pause): stage = .held(until: time + pause)
        case .byPersonOnly: stage = .held(until: nil)
        }
    }

    fileprivate mutating func release(at time: WallTime) {
        standing.due(at: time)
        if case .held(let until?) = stage, until <= time { stage = .waiting }
    }

    fileprivate mutating func retry() {
        standing.retried()
        if case .held = stage { (stage, failures) = (.waiting, 0) }
    }
}
