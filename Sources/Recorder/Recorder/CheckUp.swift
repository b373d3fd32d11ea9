import Control
import Deck
import Doctor
import Panel
import Ring
import Settings
import SoundCard
import Takes
import Transport
import Workers

/// The recorder's own check-up: only the process that has the devices open can examine them.
///
/// The worker touches devices, files and storage, so that the loop never blocks. The worker stops at once when a take
/// begins.
final class CheckUp: LoopPart {
    private enum Order: Sendable {
        /// Examine the process and the panel. If `card` is set, also open that card and record two seconds.
        case probe(Examination, OpenLines?, card: (@Sendable () -> any CaptureSource)?, Brake)
        /// Examine the sound and the folder, and the storage unless a take is recorded.
        case measure(Examination, isRecording: Bool, Brake)
    }

    /// The examination so far, or the complete one.
    private enum Outcome: Sendable {
        case partial(Examination)
        case whole(Examination)
    }

    private struct Run {
        var answer: Answer
        var examination: Examination
        var brake = Brake()
        /// The current step has failed to answer after this.
        var deadline: Instant
    }

    private enum State {
        case idle
        /// The cards are being listed.
        case listing(Run)
        /// The worker examines process and panel, and perhaps a card.
        case probing(Run)
        /// The deck's own ring is filling.
        case recording(Run)
        /// The worker measures the storage.
        case measuring(Run)
    }

    private let deck: Deck
    private let settings: Settings
    private let problems: [String]
    private let cards: Listing<[CardReport]>
    /// Makes a card to open while the deck keeps its own closed.
    private let newCard: @Sendable () -> any CaptureSource
    /// The panel's lines, or nil if it uses no lines.
    private let openLines: () -> OpenLines?
    private let clock: any Clock
    private let worker: OnDemandWorker<Order, Outcome>
    private var state = State.idle {
        didSet { deck.isExamined = run != nil }
    }

    /// How often the ring is checked until it holds enough.
    private static let interval = Duration.milliseconds(100)
    /// The longest wait for an answer from a device or the storage.
    private static let patience = Duration.seconds(15)

    init(
        deck: Deck, settings: Settings, problems: [String], cards: Listing<[CardReport]>, clock: any Clock,
        newCard: @escaping @Sendable () -> any CaptureSource = { CaptureCard() }, openLines: @escaping () -> OpenLines?
    ) {
        self.newCard = newCard
        self.deck = deck
        self.settings = settings
        self.problems = problems
        self.cards = cards
        self.clock = clock
        self.openLines = openLines
        worker = OnDemandWorker(name: "doctor", clock: clock) { order, report in
            Self.carryOut(order, report, clock)
        }
    }

    deinit {
        run?.brake.pull()
    }

    var fileDescriptors: [Int32] { [worker.fileDescriptor] }

    func ready(now: Instant) { collect() }

    /// Begins a check-up. The answer follows when it is done.
    func begin(_ answer: Answer) {
        guard run == nil else {
            return answer.refuse(Refusal(.checkUpRunning))
        }
        guard worker.pendingOrders == 0 else {
            return answer.refuse(Refusal(.checkUpStuck))
        }
        guard !deck.isPlaying else {
            return answer.refuse(Refusal(.takePlayed(subject: "doctor: a take")))
        }
        var examination = Examination(isRecorder: true, settings: settings, problems: problems)
        let status = deck.status
        examination.faults = status.faults
        examination.clock = status.clock
        examination.keyProblem = deck.keyProblem
        examination.freeBytes = status.freeBytes
        state = .listing(Run(answer: answer, examination: examination, deadline: clock.now() + Self.patience))
        // A take must not wait until the cards are listed.
        cards.request(mayOpen: deck.allowsOpening) { [weak self] result in self?.listed(result) }
    }

    /// Advances the state.
    /// - Returns: the deadline for the next call, or nil if only `collect` can make progress.
    func turn(now: Instant) -> Instant? {
        if let run, now >= run.deadline { collect() }
        switch state {
        case .idle, .listing: return nil
        case .probing(var run):
            guard now >= run.deadline else { return run.deadline }
            // The card was opened for this check-up; otherwise the worker could not have blocked.
            run.examination.cardFailure =
                run.examination.cardFailure
                ?? "capture: \(settings.capture.card): has not answered for \(Self.patience.components.seconds) s: unplug it "
                + "and plug it in again"
            run.examination.storage = .skipped("the sound card does not answer")
            answer(run)
            return nil
        case .recording(let run): return record(run, now)
        case .measuring(var run):
            guard now >= run.deadline else { return run.deadline }
            run.examination.storage = .stalled(Self.patience)
            answer(run)
            return nil
        }
    }

    /// Called when a take is about to begin or to be played. Card and storage are free for it as soon as the worker can
    /// stop.
    func stopForTake() {
        cards.stopOpening()
        run?.brake.pull()
    }

    /// Handles the worker's outcomes.
    func collect() {
        for outcome in worker.outcomes() {
            // Outcomes that arrive after the check-up was answered without the worker are dropped.
            switch (outcome, state) {
            case (.partial(let examination), .probing(var run)):
                run.examination = examination
                state = .probing(run)
            case (.partial(let examination), .measuring(var run)):
                run.examination = examination
                state = .measuring(run)
            case (.whole(let examination), .probing(var run)):
                run.examination = examination
                probed(run)
            case (.whole(let examination), .measuring(var run)):
                run.examination = examination
                answer(run)
            case (_, .idle), (_, .listing), (_, .recording): break
            }
        }
    }

    private var run: Run? {
        switch state {
        case .idle: nil
        case .listing(let run), .probing(let run), .recording(let run), .measuring(let run): run
        }
    }
}

extension CheckUp {
    private func listed(_ result: Result<[CardReport], Refusal>) {
        guard case .listing(var run) = state else { return }
        var card: (@Sendable () -> any CaptureSource)?
        switch result {
        case .success(let cards):
            run.examination.cards = cards
            if deck.openGrant == nil, !deck.keepsListening, !deck.isRecording { card = newCard }
        case .failure(let refusal): run.examination.listFailure = refusal.message
        }
        run.deadline = clock.now() + Self.patience
        order(.probe(run.examination, openLines(), card: card, run.brake), .probing(run))
    }

    private func probed(_ run: Run) {
        var run = run
        let hasCard = run.examination.grant != nil || run.examination.cardFailure != nil
        guard deck.openGrant != nil || !hasCard else {
            measure(run)
            return
        }
        run.examination.cardFailure = nil
        run.deadline = clock.now() + TestCapture.patience
        state = .recording(run)
    }

    /// Copies the sound from the deck's own ring, once the ring holds enough.
    private func record(_ run: Run, _ now: Instant) -> Instant? {
        var run = run
        guard let grant = deck.openGrant, let ring = deck.openRing else {
            if deck.isPlaying {
                run.examination.sound = .skipped("a take is played meanwhile: run this again")
            } else if let fault = deck.status.faults.first(where: { $0.code == .noCard }) {
                run.examination.cardFailure = fault.message
            } else if deck.keepsListening || run.brake.isPulled, now < run.deadline {
                // The card is being opened.
                return now + Self.interval
            }
            return measure(run)
        }
        if run.brake.isPulled, !deck.keepsListening {
            run.examination.sound = .skipped(Brake.reason)
        } else if let bytes = ring.latest(TestCapture.length) {
            run.examination.sound = .sound(bytes, ring.format)
        } else if now >= run.deadline {
            run.examination.sound = .failed(TestCapture.tooLittle(ring.position.count, of: grant.name))
        } else {
            return now + Self.interval
        }
        run.examination.grant = grant
        run.examination.overruns = ring.xrunCount
        run.examination.rate = ring.measuredRate
        return measure(run)
    }

    @discardableResult
    private func measure(_ run: Run) -> Instant? {
        var run = run
        run.deadline = clock.now() + Self.patience
        order(.measure(run.examination, isRecording: deck.isRecording, run.brake), .measuring(run))
        return self.run?.deadline
    }

    private func order(_ order: Order, _ next: State) {
        do throws(ThreadError) {
            try worker.post(order)
            state = next
        } catch {
            run?.answer.refuse(Refusal(.io, "doctor: \(error)"))
            state = .idle
        }
    }

    private func answer(_ run: Run) {
        state = .idle
        run.answer.succeed(.doctor, run.examination.findings())
    }

    /// Runs on the worker.
    private static func carryOut(_ order: Order, _ report: (Outcome) -> Void, _ clock: any Clock) -> Outcome {
        switch order {
        case .probe(var examination, let lines, let card, let brake):
            examination.probeProcess()
            if let lines { examination.probePanel(open: lines) }
            report(.partial(examination))
            if let card { examination.record(from: card(), clock: clock, brake: brake) }
            return .whole(examination)
        case .measure(var examination, let isRecording, let brake):
            examination.judgeSignal()
            report(.partial(examination))
            examination.probeFolder()
            if !isRecording { examination.measureStorage(brake) }
            return .whole(examination)
        }
    }
}
