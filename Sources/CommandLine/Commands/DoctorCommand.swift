import ArgumentParser
import Control
import Doctor
import FoundationEssentials
import Panel
import Takes
import Transport

struct DoctorCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check the kit before leaving, and say how to correct each problem.",
        discussion: """
            Checks settings, rights, the card and two seconds of its sound, buttons, lamps, space, the speed of the \
            storage, the clock, other programs and the supply. While the recorder is down it opens the card and the \
            lines itself. A failure must be repaired; a warning may be intended. While a take is recorded the storage \
            is not measured.

            With --acceptance it walks a person through a new kit in five minutes: each button is asked for, each lamp \
            is lit, each microphone is tapped, and the card is filled with numbered blocks that are read back, which \
            shows a card that has less memory than it says. No take is touched, and the space is given back in any \
            case. Answers are read from the standard input; a part that is skipped is reported as skipped. While the \
            recorder runs, it carries out each press, and its history lists them. The report goes into a file.

            Exit status: 0 there is no failure; else that of the first one: 78 settings, 69 the recorder is not running, \
            77 rights, 75 a card or line that another program holds, or another check-up under way, 65 the clock, 74 \
            anything else.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Light each lamp in turn first, unless a take is recorded or played.") var leds = false

    @Flag(help: "Walk a person through a new kit: buttons, lamps, microphone, card; and write a report.")
    var acceptance = false
    @Option(
        help: ArgumentHelp(
            "With --acceptance: the file of the report; fieldfare-acceptance-DATE.txt in the present folder unless named.",
            valueName: "file"))
    var output: String?

    func validate() throws {
        guard output == nil || acceptance else {
            throw ValidationError("--output: is for the report of --acceptance: add that")
        }
        guard !leds || !acceptance else { throw ValidationError("--leds: --acceptance lights the lamps anyway") }
    }

    func run(in session: Session) throws(Failure) {
        if acceptance { return try AcceptanceWalk(session).run(to: output) }
        let client = try connect(session)
        if leds { try lightLamps(client, session) }
        var findings = [try service(client, session)]
        if let client {
            findings += try ask(client)
        } else {
            findings += try session.access.doctor(options.settings)
        }
        findings.append(session.access.programs())
        findings += damagedTakes(session)
        findings += session.access.misplacedSecrets(options.settings).map { .failure(.settings, $0, exitStatus: 78) }
        findings += unreadableTakes(session)
        findings = findings.inOrder
        if options.json {
            try session.write(json: json(findings))
        } else {
            let text = DoctorText(isColoured: session.console.isTerminal)
            for finding in findings { try session.write(line: text.line(finding)) }
        }
        guard findings.exitStatus == 0 else {
            let failures = findings.count { $0.severity == .failure }
            throw Failure(
                exitStatus: findings.exitStatus,
                "doctor: \(failures == 1 ? "1 failure" : "\(failures) failures") to repair")
        }
    }

    /// Returns nil if the recorder is not running.
    private func connect(_ session: Session) throws(Failure) -> ControlClient? {
        do throws(Failure) {
            return try session.connect()
        } catch {
            guard error.exitStatus == 69 else { throw error }
            return nil
        }
    }

    private func service(_ client: ControlClient?, _ session: Session) throws(Failure) -> Finding {
        guard let client else {
            return .failure(
                .service,
                "the recorder is not running, so this user checked: start it with 'systemctl start fieldfare-recorder'",
                exitStatus: 69)
        }
        let status: Status
        do throws(ControlError) {
            (status, _) = try client.askForStatus(.status)
        } catch {
            throw Failure(error)
        }
        let figures = ["version": Figure.text(status.version), "state": .text(status.state.rawValue)]
        guard status.version == fieldfareVersion else {
            return .warning(
                .service,
                "the recorder is version \(status.version), this command \(fieldfareVersion): restart the recorder",
                figures)
        }
        return .ok(.service, "the recorder runs, version \(status.version): \(status.situation)", figures)
    }

    /// The takes that the library lists as damaged, or an empty list while it is not running.
    private func damagedTakes(_ session: Session) -> [Finding] {
        guard let library = try? session.libraryIfRunning(), let found = DamagedTakes(session).count(library),
            let first = found.first
        else { return [] }
        let takes = found.count == 1 ? "1 take is" : "\(found.count) takes are"
        return [
            .failure(
                .storage,
                "\(takes) damaged, the first: \(first.take): \(first.damaged ?? ""): see 'fieldfare takes --damaged'",
                ["damaged_takes": .number(Double(found.count))])
        ]
    }

    /// The takes whose sidecar or library file cannot be read, or an empty list while the library is not running.
    private func unreadableTakes(_ session: Session) -> [Finding] {
        guard let library = try? session.libraryIfRunning(), let status = try? library.ask(.status),
            case .array(let problems)? = status["problems"], let first = problems.first
        else { return [] }
        let count = status["problem_count"]?.integer ?? problems.count
        let takes = count == 1 ? "the files of 1 take" : "the files of \(count) takes"
        let sentence = (first["problem"]?.text ?? "").printable
        return [
            .failure(
                .storage,
                "\(takes) cannot be used as they are, the first: \(first["take"]?.text ?? ""): \(sentence): repair that file, or "
                    + "put it elsewhere",
                ["unreadable_takes": .number(Double(count))])
        ]
    }

    private func ask(_ client: ControlClient) throws(Failure) -> [Finding] {
        let reply: JSONValue
        do throws(ControlError) {
            reply = try client.ask(.inventory(.doctor), timeout: .seconds(60))
        } catch {
            throw Failure(error)
        }
        do {
            let list = reply[Inventory.doctor.rawValue] ?? .null
            return try JSONDecoder().decode([Finding].self, from: Data(list.description.utf8))
        } catch {
            throw Failure(exitStatus: 70, "doctor: the recorder's reply is not a list of findings")
        }
    }

    private func json(_ findings: [Finding]) throws(Failure) -> JSONValue {
        do {
            return .object([
                "findings": try JSONValue(encoding: findings), "exit_status": .integer(Int(findings.exitStatus)),
            ])
        } catch {
            throw Failure(exitStatus: 70, "doctor: the findings cannot be written: \(error)")
        }
    }

    // MARK: Lamps

    private func lightLamps(_ client: ControlClient?, _ session: Session) throws(Failure) {
        guard let client else {
            return try session.access.lightLamps(options.settings) { lamp, failure throws(Failure) in
                try report(lamp, failure, session)
            }
        }
        for lamp in Lamp.allCases {
            do throws(ControlError) {
                _ = try client.ask(.light(lamp: lamp.rawValue))
            } catch {
                // The kit does not have this lamp.
                guard case .refused(let refusal) = error.cause else { throw Failure(error) }
                if refusal.code == .notFound { continue }
                // The remaining checks still run.
                return try report(line: refusal.message, session)
            }
            try report(lamp, nil, session)
        }
    }

    private func report(_ lamp: Lamp, _ failure: String?, _ session: Session) throws(Failure) {
        let name = lamp == .all ? "the lamp for all" : "\(lamp.rawValue) lamp"
        try report(line: failure ?? "\(name) is lit: did you see it?", session)
    }

    private func report(line: String, _ session: Session) throws(Failure) {
        // With --json, standard output contains only the findings.
        if options.json { session.console.complain(line) } else { try session.write(line: line) }
    }
}
