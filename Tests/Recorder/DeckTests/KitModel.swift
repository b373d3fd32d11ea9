import Panel
import Takes
import Transport

/// A model of the kit in a few independent rules: the button table, the end of a take, the faults, and the selection.
/// It has no threads, files or rings.
struct KitModel {
    enum Mode: Hashable { case idle, recording, playing, paused }

    /// A condition of the simulated world. A kit notices a change of it within `patience`.
    struct Condition {
        static let patience = Duration.milliseconds(2600)
        private(set) var holds = false
        private var noticed: Instant?

        mutating func set(_ holds: Bool, at instant: Instant, noticedAfter patience: Duration = Self.patience) {
            guard holds != self.holds else { return }
            self.holds = holds
            noticed = instant + patience
        }

        /// If the last change is still unnoticed, the kit must have noticed it by this instant.
        mutating func isDue(at instant: Instant) {
            if noticed != nil { noticed = instant }
        }

        /// If the last change is still unnoticed, the kit may take until another instant.
        mutating func isPostponed(to instant: Instant, now: Instant) {
            if !isNoticed(at: now) { noticed = instant }
        }

        /// It is unknown whether the last change was noticed.
        mutating func isUnsure() { noticed = Instant(nanoseconds: .max) }

        private func isNoticed(at now: Instant) -> Bool { noticed.map { now >= $0 } ?? true }

        /// Whether the kit must report the condition at `now`, and whether it may.
        func must(at now: Instant) -> Bool { holds && isNoticed(at: now) }
        func may(at now: Instant) -> Bool { holds || !isNoticed(at: now) }
    }

    /// A fault of the storage. While it is away, takes do not exist.
    enum Trouble: Hashable { case none, failing, readOnly, away, stalled }

    /// Bounds of a duration.
    struct Span {
        var low = Duration.zero
        var high = Duration.zero

        mutating func add(_ other: Span) {
            low += max(.zero, other.low)
            high += max(.zero, other.high)
        }
    }

    /// Bounds of an instant.
    struct Moment {
        var first: Instant
        var last: Instant
    }

    /// A take in progress.
    struct Open {
        /// The number is nil until the disk shows which of the possible ones it is.
        var number: Int?
        var pressed: Instant
        var markers: [Instant] = []
        /// The length sampled up to the last pause.
        var sampled = Span()
        /// The instant since which its card delivers, or nil if it does not.
        var since: Moment?
        /// Whether it was sampled from the press on without a break.
        var isWhole = true

        mutating func pauses(_ moment: Moment) {
            guard let since else { return }
            sampled.add(Span(low: moment.first - since.last, high: moment.last - since.first))
            self.since = nil
        }
    }

    /// A take that must be on disk, now or once the storage works.
    struct Due {
        var open: Open
        var endings: Set<Sidecar.Ending>
        /// Whether it gets there by recovery.
        var isRecovered = false
        /// The latest time at which it must be there if the storage works.
        var latest: Instant
    }

    var mode = Mode.idle
    var open: Open?
    var due: [Due] = []
    /// The finished takes, and the playing time of each.
    var takes: [Int: Duration] = [:]
    var selected: Int?
    /// A new take must have a higher number than this.
    var lastNumber = 0
    /// The number of takes that failed to begin since. Each may have used a number.
    var skippedNumbers = 0

    // The state of the simulated world.
    var trouble = Trouble.none
    /// The instant since which the storage has worked.
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
    /// The time at which a full disk ended a take.
    var endedFullAt: Instant?
    /// The time at which the storage ended a take.
    var failedAt: Instant?
    var overrunAt: Instant?
    /// The time at which a stalled storage worked again.
    var stallEndedAt: Instant?
    /// The instant since which a take has been without its card.
    var cardAwaySince: Instant?

    /// A take that begins before this may have to wait until the played sound has faded.
    var noisyUntil: Instant?

    /// The end of pairing.
    var pairingEnd: Instant?

    var position = Duration.zero
    var length = Duration.zero

    /// The expected answer of the lamps to the last press, or nil for none.
    var answer: Indication.Answer.Kind?

    // MARK: - Expected reports

    /// The states that the kit may report.
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

    /// The faults that the kit must report, and those that it may.
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
            // The fault is possible until the free space is known.
            if now - endedFullAt < .seconds(65) { may.insert(.diskFull) }
        }
        if let failedAt, now - failedAt < .seconds(65) { may.insert(.storageFailing) }
        // A stall is a fault after 5 s, minus the time that the pump and the sync take.
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
            // The answer comes only when playback has ended.
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

    /// Play was held until pairing began, so the effect of its press on playback is undone.
    /// - Parameter before: the kit's mode when play was pressed.
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
            // A failure that only the press reveals is shown for a while.
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
            // The card is opened by the press, or at the next check.
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

    /// Takes the numbers of new takes, which cannot be predicted.
    /// - Parameter numbers: the numbers of the takes on disk.
    /// - Returns: whether all of them are possible.
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

    // MARK: - Events

    mutating func end(_ ending: Sidecar.Ending, at moment: Moment, now: Instant, isRecovered: Bool = false) {
        guard var open else { return }
        open.pauses(moment)
        due.append(
            Due(open: open, endings: [ending], isRecovered: isRecovered, latest: now + .seconds(isRecovered ? 6 : 3)))
        self.open = nil
        cardAwaySince = nil
        mode = .idle
    }

    /// A new take appeared on disk.
    mutating func appeared(_ take: Due, number: Int, plays length: Duration) {
        let wasLast = selected == takes.keys.max()
        takes[number] = length
        if !take.isRecovered || selected == nil || (wasLast && number == takes.keys.max()) { selected = number }
    }

    mutating func cardGoes(at now: Instant, silently: Bool) {
        if silently { isCardSilent = true } else { isCardPresent = false }
        // The kit may have to open the card and observe it for a while to detect that it is silent.
        noCard.set(true, at: now, noticedAfter: Condition.patience + (silently ? .milliseconds(1500) : .zero))
        if open != nil, cardAwaySince == nil { cardAwaySince = now }
        // Sound that the card had not delivered yet is lost with it.
        open?.pauses(Moment(first: now - .milliseconds(250), last: now))
        open?.isWhole = false
    }

    mutating func cardReturns(at now: Instant) {
        // If the card was open all the time, its silence may be taken for lost sound.
        let first = isCardSilent ? max(now - .milliseconds(2100), open?.pressed ?? now) : now
        isCardPresent = true
        isCardSilent = false
        noCard.set(false, at: now)
        cardAwaySince = nil
        if open?.since == nil { open?.since = Moment(first: first, last: now + Condition.patience) }
        open?.isWhole = false
    }

    /// The storage fails or works again.
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

    /// The free space is not read while the storage fails.
    private mutating func noticeSpace(by instant: Instant, now: Instant) {
        full.isPostponed(to: instant, now: now)
        nearlyFull.isPostponed(to: instant, now: now)
    }

    /// Whether cut takes are being recovered. A take in progress and the reserve of a full disk come first.
    var recovers: Bool { trouble == .none && !full.holds && mode != .recording }

    /// A take that cannot be recovered yet is not expected yet.
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

    /// The kit starts, after a shutdown or a power cut.
    mutating func starts(at now: Instant) {
        // Endings that could not be written to the storage are lost.
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

    /// Time passes, and with it the playback position.
    mutating func pass(_ duration: Duration) {
        if mode == .playing { position += duration }
    }

    /// Played sound may last for this long after the order to end it.
    private static let fading = Duration.milliseconds(600)

    mutating func playingEnded(at now: Instant) {
        mode = .idle
        noisyUntil = now + Self.fading
    }

    /// Whether playback may have ended, and whether it must have.
    var mayHaveEnded: Bool { mode == .playing && position >= length - .milliseconds(700) }
    var mustHaveEnded: Bool { mode == .playing && position >= length + .milliseconds(700) }
}
