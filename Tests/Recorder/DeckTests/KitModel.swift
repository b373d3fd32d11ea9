import Panel
import Takes
import Transport

/// What a kit must do, in a few rules of its own: the table of buttons, what ends a take, what is wrong and what is
/// selected. It contains no threads, files and rings.
struct KitModel {
    enum Mode: Hashable { case idle, recording, playing, paused }

    /// Something that holds of the world or does not. A kit notices a change of it within `patience`.
    struct Condition {
        static let patience = Duration.milliseconds(2600)
        private(set) var holds = false
        private var noticed: Instant?

        mutating func set(_ holds: Bool, at instant: Instant, noticedAfter patience: Duration = Self.patience) {
            guard holds != self.holds else { return }
            self.holds = holds
            noticed = instant + patience
        }

        /// If its last change is not noticed yet, it is by then.
        mutating func isDue(at instant: Instant) {
            if noticed != nil { noticed = instant }
        }

        /// Its last change, if it is not noticed yet, is noticed by another instant.
        mutating func isPostponed(to instant: Instant, now: Instant) {
            if !isNoticed(at: now) { noticed = instant }
        }

        /// It is not known whether its last change was noticed.
        mutating func isUnsure() { noticed = Instant(nanoseconds: .max) }

        private func isNoticed(at now: Instant) -> Bool { noticed.map { now >= $0 } ?? true }

        /// Whether a kit must say at `now` that it holds, and whether it may.
        func must(at now: Instant) -> Bool { holds && isNoticed(at: now) }
        func may(at now: Instant) -> Bool { holds || !isNoticed(at: now) }
    }

    /// How the storage misbehaves. While it is away there are no takes.
    enum Trouble: Hashable { case none, failing, readOnly, away, stalled }

    /// How long something lasts, when only the bounds of it are known.
    struct Span {
        var low = Duration.zero
        var high = Duration.zero

        mutating func add(_ other: Span) {
            low += max(.zero, other.low)
            high += max(.zero, other.high)
        }
    }

    /// A moment, when only the bounds of it are known.
    struct Moment {
        var first: Instant
        var last: Instant
    }

    /// A take under way.
    struct Open {
        /// Nil until the disk shows which of the possible ones it is.
        var number: Int?
        var pressed: Instant
        var markers: [Instant] = []
        /// How much of it was sampled, up to the last pause.
        var sampled = Span()
        /// Since when its card has delivered; nil: it does not.
        var since: Moment?
        /// Whether it was sampled from the press on, without a break.
        var isWhole = true

        mutating func pauses(_ moment: Moment) {
            guard let since else { return }
            sampled.add(Span(low: moment.first - since.last, high: moment.last - since.first))
            self.since = nil
        }
    }

    /// A take that must be on the disk, now or once the storage takes it.
    struct Due {
        var open: Open
        var endings: Set<Sidecar.Ending>
        /// Whether it is there by recovery.
        var isRecovered = false
        /// When it must be there at the latest, if the storage takes anything.
        var latest: Instant
    }

    var mode = Mode.idle
    var open: Open?
    var due: [Due] = []
    /// The finished takes: how long each of them plays.
    var takes: [Int: Duration] = [:]
    var selected: Int?
    /// No take may have this number or a lower one.
    var lastNumber = 0
    /// How many takes failed to begin since, each of which may have used a number up.
    var skippedNumbers = 0

    // The world.
    var trouble = Trouble.none
    /// Since when the storage has been well.
    var wellSince = Instant(nanoseconds: 0)
    var isCardPresent = true
    var isCardSilent = false
    var noCard = Condition()
    var full = Condition()
    var nearlyFull = Condition()
    var readOnly = Condition()
    var away = Condition()
    var clockUnset = Condition()
    /// Whether the storage failed a take and has not worked since.
    var suspect = Condition()
    /// When a take was ended by a full disk.
    var endedFullAt: Instant?
    /// When the storage ended a take.
    var failedAt: Instant?
    var overrunAt: Instant?
    /// When a storage that had stalled took what was written.
    var stallEndedAt: Instant?
    /// Since when a take has been without its card.
    var cardAwaySince: Instant?

    /// A take that begins before this may have to wait until what was played has faded away.
    var noisyUntil: Instant?

    /// Until when phones may be paired.
    var pairingEnd: Instant?

    // What plays.
    var position = Duration.zero
    var length = Duration.zero

    /// What the lamps are to answer to the last press of a button, if they are to answer.
    var answer: Indication.Answer.Kind?

    // MARK: - What is to be reported

    /// The states that may be reported.
    func states(at now: Instant) -> Set<DeckState> {
        switch mode {
        case .recording: return [.recording]
        case .playing: return [.playing]
        case .paused: return [.paused]
        case .idle:
            var obstacles = [noCard, readOnly, away, suspect]
            if trouble != .away { obstacles.append(full) }
            if obstacles.contains(where: { $0.must(at: now) }) { return [.fault] }
            return obstacles.contains { $0.may(at: now) } ? [.idle, .fault] : [.idle]
        }
    }

    /// The faults that must be reported, and those that may be.
    func faults(at now: Instant) -> (must: Set<Fault.Code>, may: Set<Fault.Code>) {
        var must: Set<Fault.Code> = []
        var may: Set<Fault.Code> = []
        func judge(_ code: Fault.Code, _ conditions: Condition...) {
            if conditions.contains(where: { $0.must(at: now) }) { must.insert(code) }
            if conditions.contains(where: { $0.may(at: now) }) { may.insert(code) }
        }
        judge(.noCard, noCard)
        judge(.clockUnset, clockUnset)
        judge(.storageFailing, readOnly, away, suspect)
        if trouble != .away { judge(.diskFull, full, nearlyFull) }
        if let endedFullAt {
            // Until the free space is known.
            if now - endedFullAt < .seconds(65) { may.insert(.diskFull) }
        }
        if let failedAt, now - failedAt < .seconds(65) { may.insert(.storageFailing) }
        // After 5 s, of which the pump and the sync take some.
        let isStalled = trouble == .stalled || stallEndedAt.map { now - $0 < .seconds(3) } ?? false
        if isStalled { may.insert(.storageFailing) }
        if let overrunAt, now - overrunAt < .seconds(34) { may.insert(.overload) }
        return (must, may.union(must))
    }

    // MARK: - Buttons

    mutating func press(_ button: Button, at instant: Instant) {
        answer = nil
        switch (mode, button) {
        case (.idle, .record): record(at: instant)
        case (.idle, .play):
            guard let selected, let length = takes[selected], trouble != .away else {
                answer = .refused
                return
            }
            mode = .playing
            position = .zero
            self.length = length
        case (.idle, .back): move(by: -1)
        case (.idle, .forward): move(by: 1)
        case (.idle, .stop): break
        case (.recording, .record): open?.markers.append(instant)
        case (.recording, .stop): end(.stop, at: Moment(first: instant, last: instant), now: instant)
        case (.recording, .play): answer = .refused
        case (.recording, .back), (.recording, .forward): break
        case (.playing, .record), (.paused, .record):
            mode = .idle
            noisyUntil = instant + Self.fading
            record(at: instant)
            // The answer comes only when that has ended.
            answer = nil
        case (.playing, .stop), (.paused, .stop):
            mode = .idle
            noisyUntil = instant + Self.fading
        case (.playing, .play): mode = .paused
        case (.paused, .play): mode = .playing
        case (.playing, .back), (.paused, .back): position = max(.zero, position - .seconds(5))
        case (.playing, .forward), (.paused, .forward): position = min(length, position + .seconds(5))
        }
    }

    /// Play was held on: what its press made sound is silent again.
    /// - Parameter before: what the kit did when play was pressed.
    mutating func pair(since before: Mode, at now: Instant) {
        pairingEnd = now + .seconds(120)
        guard mode == .playing else { return }
        switch before {
        case .idle: playingEnded(at: now)
        case .paused: mode = .paused
        case .recording, .playing: break
        }
    }

    private mutating func record(at instant: Instant) {
        guard isCardPresent, !full.holds, trouble != .away, trouble != .readOnly else {
            answer = .refused
            // What the press alone finds out is shown for a while.
            if isCardPresent, trouble == .readOnly, !readOnly.must(at: instant) {
                suspect.set(true, at: instant)
                failedAt = instant
            } else if isCardPresent, full.holds, !full.must(at: instant) {
                endedFullAt = instant
            }
            return
        }
        guard trouble != .failing else {
            suspect.set(true, at: instant)
            failedAt = instant
            skippedNumbers += 1
            answer = .refused
            return
        }
        mode = .recording
        var take = Open(pressed: instant)
        if skippedNumbers == 0, due.allSatisfy({ $0.open.number != nil }) {
            lastNumber += 1
            take.number = lastNumber
        }
        if !isCardSilent { take.since = Moment(first: instant, last: instant) }
        if noCard.may(at: instant) {
            // It is opened by the press, or at the next check.
            take.isWhole = false
            take.since?.last = instant + Condition.patience
        }
        if let noisyUntil, instant < noisyUntil {
            take.isWhole = false
            if let since = take.since { take.since?.last = max(since.last, noisyUntil) }
        }
        cardAwaySince = isCardSilent ? instant : nil
        open = take
    }

    private mutating func move(by steps: Int) {
        let numbers = takes.keys.sorted()
        guard let selected, let index = numbers.firstIndex(of: selected), numbers.indices.contains(index + steps) else {
            answer = .atTheEnd
            return
        }
        self.selected = numbers[index + steps]
        answer = .selected
    }

    /// Takes over the numbers of takes that cannot be predicted.
    /// - Parameter numbers: of the takes that are on the disk.
    /// - Returns: whether all could have been given.
    mutating func assign(_ numbers: some Sequence<Int>) -> Bool {
        var news = numbers.filter { $0 > lastNumber }.sorted()[...]
        var areLikely = true
        func next(_ news: inout ArraySlice<Int>) -> Int? {
            guard let number = news.popFirst() else { return nil }
            areLikely = areLikely && number <= lastNumber + 1 + skippedNumbers
            (lastNumber, skippedNumbers) = (number, 0)
            return number
        }
        for index in due.indices where due[index].open.number == nil { due[index].open.number = next(&news) }
        if open != nil, open?.number == nil { open?.number = next(&news) }
        return areLikely
    }

    // MARK: - What happens

    /// The take under way ends.
    mutating func end(_ ending: Sidecar.Ending, at moment: Moment, now: Instant, isRecovered: Bool = false) {
        guard var open else { return }
        open.pauses(moment)
        due.append(
            Due(open: open, endings: [ending], isRecovered: isRecovered, latest: now + .seconds(isRecovered ? 6 : 3)))
        self.open = nil
        cardAwaySince = nil
        mode = .idle
    }

    /// A take is on the disk that was not there before.
    mutating func appeared(_ take: Due, number: Int, plays length: Duration) {
        let wasLast = selected == takes.keys.max()
        takes[number] = length
        if !take.isRecovered || selected == nil || (wasLast && number == takes.keys.max()) { selected = number }
    }

    mutating func cardGoes(at now: Instant, silently: Bool) {
        if silently { isCardSilent = true } else { isCardPresent = false }
        // It may have to be opened to find that it is silent, and observed for a while.
        noCard.set(true, at: now, noticedAfter: Condition.patience + (silently ? .milliseconds(1500) : .zero))
        if open != nil, cardAwaySince == nil { cardAwaySince = now }
        // What the card had not delivered yet is lost with it.
        open?.pauses(Moment(first: now - .milliseconds(250), last: now))
        open?.isWhole = false
    }

    mutating func cardReturns(at now: Instant) {
        // Of a card that was open all the while, its silence may be taken for a loss.
        let first = isCardSilent ? max(now - .milliseconds(2100), open?.pressed ?? now) : now
        isCardPresent = true
        isCardSilent = false
        noCard.set(false, at: now)
        cardAwaySince = nil
        if open?.since == nil { open?.since = Moment(first: first, last: now + Condition.patience) }
        open?.isWhole = false
    }

    /// The storage fails, or takes what is written again.
    mutating func storage(_ trouble: Trouble, at now: Instant) {
        self.trouble = trouble
        wellSince = now
        readOnly.set(trouble == .readOnly, at: now)
        away.set(trouble == .away, at: now)
        switch trouble {
        case .none, .away:
            suspect.set(false, at: now)
            suspect.isDue(at: now + Condition.patience)
            noticeSpace(by: now + Condition.patience, now: now)
        case .failing, .readOnly:
            if !suspect.holds, suspect.may(at: now) { suspect.isUnsure() }
            noticeSpace(by: Instant(nanoseconds: .max), now: now)
        case .stalled: break
        }
    }

    /// What is free is not read while the storage fails.
    private mutating func noticeSpace(by instant: Instant, now: Instant) {
        full.isPostponed(to: instant, now: now)
        nearlyFull.isPostponed(to: instant, now: now)
    }

    /// Whether what was cut is being recovered: a take that is recorded comes first, and so does a full disk's reserve.
    var recovers: Bool { trouble == .none && !full.holds && mode != .recording }

    /// What cannot be recovered yet is not missed yet.
    mutating func postponeRecovery(at now: Instant) {
        guard !recovers else { return }
        for index in due.indices where due[index].isRecovered {
            due[index].latest = max(due[index].latest, now + .seconds(7))
        }
    }

    mutating func space(isFull: Bool, isNearlyFull: Bool, at now: Instant) {
        full.set(isFull, at: now)
        nearlyFull.set(isNearlyFull, at: now)
        if trouble == .failing || trouble == .readOnly { noticeSpace(by: Instant(nanoseconds: .max), now: now) }
    }

    /// The kit is switched on, after whatever ended it.
    mutating func starts(at now: Instant) {
        // What the storage did not take is not known any more.
        for index in due.indices where due[index].isRecovered { due[index].endings.insert(.powerCut) }
        mode = .idle
        open = nil
        overrunAt = nil
        endedFullAt = nil
        failedAt = nil
        noisyUntil = nil
        pairingEnd = nil
        noCard = Condition()
        full = Condition()
        nearlyFull = Condition()
        suspect = Condition()
        selected = takes.keys.max()
        cardAwaySince = nil
    }

    /// Time goes on, which what plays does too.
    mutating func pass(_ duration: Duration) {
        if mode == .playing { position += duration }
    }

    /// How long what was played may sound after the order to end.
    private static let fading = Duration.milliseconds(600)

    /// What played has come to its end.
    mutating func playingEnded(at now: Instant) {
        mode = .idle
        noisyUntil = now + Self.fading
    }

    /// Whether what plays may have come to its end, and whether it must have.
    var mayHaveEnded: Bool { mode == .playing && position >= length - .milliseconds(700) }
    var mustHaveEnded: Bool { mode == .playing && position >= length + .milliseconds(700) }
}
