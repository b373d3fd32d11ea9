import Control
import Deck
import Doctor
import Panel
import Ring
import Settings
import SoundCard
import Takes
import Transport

/// The recorder's own check-up: whoever has the devices open is the only one that can look at them.
///
/// It never holds up the loop: what takes time is done on a thread of its own, and it gives way to a take at once.
final class CheckUp {
    /// Readable while there is something for `hear`.
    var fileDescriptor: Int32 { done.fileDescriptor }

    private let deck: Deck
    private let settings: Settings
    private let problems: [String]
    /// A card to open beside the deck's, which keeps its own closed.
    private let newCard: () -> any CaptureSource
    /// The panel's lines; nil: the panel is made of none.
    private let openLines: () -> OpenLines?
    private let clock: any Clock
    private let done = Mailbox<Letter>()
    private var run: Run?

    /// What the thread tells.
    private enum Letter: Sendable {
        /// The sound is judged, and the storage not measured yet.
        case heard(Examination)
        case done([Finding])
    }

    /// A check-up that is under way.
    private struct Run {
        var answer: Answer
        var examination: Examination
        var brake = StorageProbe.Brake()
        var phase: Phase
        var deadline: Instant
    }

    private enum Phase {
        /// The deck's own ring is listened to.
        case listening
        /// The deck keeps its card closed: it was opened for this.
        case trying(TestCapture)
        /// The storage is measured on a thread.
        case measuring(Thread)
        /// It was answered without that thread, which still waits for the storage.
        case abandoned(Thread)
    }

    /// How often the ring is looked at while there is not enough in it.
    private static let interval = Duration.milliseconds(100)
    /// A storage that has not answered by then does not answer.
    private static let patience = Duration.seconds(15)

    init(
        deck: Deck, settings: Settings, problems: [String], clock: any Clock,
        newCard: @escaping () -> any CaptureSource = { CaptureCard() }, openLines: @escaping () -> OpenLines?
    ) {
        self.newCard = newCard
        self.deck = deck
        self.settings = settings
        self.problems = problems
        self.clock = clock
        self.openLines = openLines
    }

    deinit {
        // The thread keeps nothing of this, and its file has no name: it may end with the process.
        run?.brake.pull()
    }

    /// Begins a check-up, which is answered once it is done.
    func begin(_ answer: Answer) {
        guard run == nil else {
            return answer.refuse(Refusal(.busy, "doctor: another check-up is under way: try again in a moment"))
        }
        guard !deck.isPlaying else {
            return answer.refuse(Refusal(.busy, "doctor: a take is being played: stop it first"))
        }
        let now = clock.now()
        var examination = Examination(isRecorder: true, settings: settings, problems: problems)
        let status = deck.status
        examination.faults = status.faults
        examination.clock = status.clock
        // To probe the others' offers takes a while, which a take must not be kept waiting for.
        examination.cards =
            deck.isRecording ? SoundCards().list().map { CardReport($0) } : SoundCards().reports()
        if let open = openLines() { examination.lookAtPanel(open: open) }
        run = Run(answer: answer, examination: examination, phase: .listening, deadline: now + TestCapture.patience)
        if deck.openGrant == nil, !deck.keepsListening, !deck.isRecording {
            do {
                run?.phase = .trying(try TestCapture(CaptureRequest(settings.capture), on: newCard(), now: now))
            } catch {
                run?.examination.cardFailure = "\(error)"
                measure(now)
            }
        }
    }

    /// Does what is due.
    /// - Returns: when it wants to be called again at the latest; nil: not before `hear`.
    func turn(now: Instant) -> Instant? {
        guard let run else { return nil }
        switch run.phase {
        case .listening:
            guard let grant = deck.openGrant, let ring = deck.openRing else {
                if deck.isPlaying {
                    self.run?.examination.heard = .skipped("a take is played meanwhile: run this again")
                    return measure(now)
                }
                let fault = deck.status.faults.first { $0.code == .noCard }
                self.run?.examination.cardFailure = fault?.message
                return measure(now)
            }
            if let bytes = ring.latest(TestCapture.length) {
                heard(.sound(bytes, ring.format), grant, overruns: ring.xrunCount)
            } else if now >= run.deadline {
                heard(.failed(TestCapture.tooLittle(ring.position, of: grant.name)), grant, overruns: ring.xrunCount)
            } else {
                return now + Self.interval
            }
            return measure(now)
        case .trying(let capture):
            guard let sound = capture.heard(at: now) else { return now + Self.interval }
            heard(sound, capture.grant, overruns: 0)
            return measure(now)
        case .measuring(let thread):
            guard now >= run.deadline else { return run.deadline }
            var examination = run.examination
            examination.storage = .stalled(Self.patience)
            self.run?.phase = .abandoned(thread)
            run.answer.succeed(.doctor, examination.findings())
            return nil
        case .abandoned: return nil
        }
    }

    /// A take is about to begin, or to be played: card and storage are its own at once.
    func giveWay() {
        guard let run else { return }
        run.brake.pull()
        if case .trying(let capture) = run.phase {
            capture.stop()
            heard(.skipped("a take began meanwhile: run this again"), capture.grant, overruns: 0)
            measure(clock.now())
        }
    }

    /// Takes note of what the thread tells.
    func hear() {
        for letter in done.take() {
            switch letter {
            case .heard(let examination): run?.examination = examination
            case .done(let findings):
                guard let run else { continue }
                self.run = nil
                switch run.phase {
                case .measuring(let thread):
                    thread.join()
                    run.answer.succeed(.doctor, findings)
                case .abandoned(let thread): thread.join()
                case .listening, .trying: break
                }
            }
        }
    }

    private func heard(_ sound: TestCapture.Heard, _ grant: CaptureGrant, overruns: Int) {
        run?.examination.heard = sound
        run?.examination.grant = grant
        run?.examination.overruns = overruns
    }

    /// Goes on to the storage; a card that was opened for this is closed with the phase before.
    @discardableResult
    private func measure(_ now: Instant) -> Instant? {
        guard let run else { return nil }
        let (examination, brake, done, isRecording) = (run.examination, run.brake, done, deck.isRecording)
        do {
            let thread = try Thread(name: "doctor") {
                var examination = examination
                examination.judgeSignal()
                done.post(.heard(examination))
                if !isRecording { examination.measureStorage(brake) }
                done.post(.done(examination.findings()))
            }
            self.run?.phase = .measuring(thread)
            self.run?.deadline = now + Self.patience
        } catch {
            self.run = nil
            run.answer.refuse(Refusal(.io, "doctor: \(error)"))
        }
        return self.run?.deadline
    }
}
