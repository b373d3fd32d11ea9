import Control
import Doctor
import Files
import Panel
import Settings
import Takes
import Transport

/// Guides a person through the check of a new kit (buttons, lamps, microphones, then the card), and writes a report.
final class AcceptanceWalk {
    let session: Session
    let settings: Settings
    /// The problems of the settings file. A line that is not understood is not checked.
    private let problems: [SettingsProblem]
    let keyboard: Keyboard
    /// Nil if no recorder runs. This process then opens the devices itself.
    let client: ControlClient?
    /// The recorder's status, or nil if none runs.
    let status: Status?
    private var checks: [AcceptanceCheck] = []

    /// Connects to the recorder, if one runs.
    /// - Throws: `Failure` with exit status 75 while a take is recorded or played.
    init(_ session: Session) throws(Failure) {
        self.session = session
        (settings, problems) = Settings.load(from: session.options.settings)
        let client: ControlClient?
        do throws(Failure) {
            client = try session.connect()
        } catch {
            guard error.exitStatus == 69 else { throw error }
            client = nil
        }
        self.client = client
        do throws(ControlError) {
            status = try client?.askForStatus(.status).0
        } catch {
            throw Failure(error)
        }
        switch status?.state {
        case .recording: throw Failure(exitStatus: 75, "doctor: a take is being recorded: stop it first")
        case .playing, .paused: throw Failure(exitStatus: 75, "doctor: a take is being played: stop it first")
        case .idle, .fault, nil: break
        }
        keyboard = Keyboard(session.input, signals: try session.signals(), clock: session.clock)
    }

    /// Runs all checks and writes the report.
    /// - Parameter path: of the report, or nil for a name with the date in the current folder.
    /// - Throws: `Failure` with the exit status of the first check that failed.
    func run(to path: String?) throws(Failure) {
        let began = session.clock.wallTime()
        for problem in problems {
            try note(AcceptanceCheck(.settings, "file", .failed, problem.description, exitStatus: 78))
        }
        let (interruption, failure) = walk()
        let report = AcceptanceReport(
            at: began, kit: settings.kitName, version: fieldfareVersion, model: session.access.acceptance.model(),
            checks: checks)
        let path = path ?? Self.name(at: began)
        try write(report, to: path)
        // The report is written before the output, because the output's reader may be gone.
        if let failure { throw failure }
        if session.options.json {
            do {
                try session.write(json: try JSONValue(encoding: report))
            } catch let failure as Failure {
                throw failure
            } catch {
                throw Failure(exitStatus: 70, "doctor: the report cannot be written as JSON: \(error)")
            }
        } else {
            try session.write(line: path)
        }
        if interruption != nil {
            throw Failure(exitStatus: 75, "doctor: interrupted: \(path) has the results so far")
        }
        guard report.exitStatus == 0 else {
            let failures = checks.count { $0.outcome == .failed }
            guard failures > 0 else {
                throw Failure(exitStatus: report.exitStatus, "doctor: nothing was checked: see \(path)")
            }
            throw Failure(
                exitStatus: report.exitStatus,
                "doctor: \(failures == 1 ? "1 check" : "\(failures) checks") failed: see \(path)"
            )
        }
    }

    /// - Returns: both nil if it reached its end.
    private func walk() -> (Keyboard.Interruption?, Failure?) {
        let parts: [(AcceptanceCheck.Part, () throws -> Void)] = [
            (.buttons, askForButtons), (.lamps, askForLamps), (.microphone, askForTaps), (.card, testCard),
        ]
        var interruption: Keyboard.Interruption?
        for (part, work) in parts {
            do {
                if interruption == nil { try work() }
            } catch let error as Keyboard.Interruption {
                interruption = error
            } catch {
                return (interruption, error as? Failure ?? Failure(exitStatus: 70, "doctor: \(error)"))
            }
            guard interruption != nil else { continue }
            do throws(Failure) {
                try note(AcceptanceCheck(part, "rest", .skipped, "interrupted"))
            } catch {
                return (interruption, error)
            }
        }
        return (interruption, nil)
    }

    private func write(_ report: AcceptanceReport, to path: String) throws(Failure) {
        let files = FileSystem()
        do throws(FileError) {
            let file = try files.create(path, isNew: false, mode: 0o644)
            try files.write(Array(report.text.utf8), to: file, at: 0)
            try files.sync(file)
        } catch {
            // If the file cannot be written, the report is still shown.
            session.console.complain(report.text)
            throw Failure(
                exitStatus: 73, "doctor: the report cannot be written: \(error.fact): name another file (--output)")
        }
    }

    private static func name(at time: WallTime) -> String {
        "fieldfare-acceptance-\(time.date)-\(time.timeOfDay.split(separator: ":").joined()).txt"
    }

    // MARK: Shared by the parts

    func say(_ line: String) { session.console.complain(line) }

    /// Adds a check and shows it.
    func note(_ check: AcceptanceCheck) throws(Failure) {
        checks.append(check)
        // With --json, standard output contains only the report.
        if session.options.json { say(check.line) } else { try session.write(line: check.line) }
    }

    /// Asks whether to begin a part.
    /// - Returns: nil for yes, or the reason why not.
    func askToBegin(_ question: String) throws(Keyboard.Interruption) -> String? {
        say("\(question) (Enter: begin, s: skip)")
        switch try keyboard.answer(say: say) ?? .unanswered {
        case .yes: return nil
        case .no, .skipped: return Self.skipped
        case .unanswered: return Self.unanswered
        }
    }

    static let skipped = "skipped by the person"
    static let unanswered = "nobody answered"
}
