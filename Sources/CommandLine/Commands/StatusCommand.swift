import ArgumentParser
import Control
import Transport

struct StatusCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what the recorder is doing.",
        discussion: """
            With '--is', the exit status is the answer: 0 if the recorder is in one of the states that are named, 1 if it \
            is in another, and higher if it does not answer.
            """)

    @OptionGroup var options: GlobalOptions
    @Option(
        name: .customLong("is"),
        help: ArgumentHelp(
            "Whether it is in this state: \(AskedState.list); may be given several times.", valueName: "state"))
    var asked: [AskedState] = []

    func run(in session: Session) throws(Failure) {
        let (status, reply) = try session.askForStatus(.status, timeout: .seconds(5))
        guard asked.isEmpty else {
            guard asked.contains(where: { $0.holds(in: status) }) else {
                throw Failure(exitStatus: 1, "status: the recorder's state is \(status.state.rawValue)")
            }
            return
        }
        guard !options.json else { return try session.write(json: reply) }
        for line in StatusText(status).lines { try session.write(line: line) }
    }
}

/// A state that scripts can query.
enum AskedState: ExpressibleByArgument {
    case deck(DeckState)
    /// A press of record would begin a take.
    case armed

    static let list = (DeckState.allCases.map(\.rawValue) + ["armed"]).joined(separator: ", ")

    init?(argument: String) {
        if argument == "armed" {
            self = .armed
        } else if let state = DeckState(rawValue: argument) {
            self = .deck(state)
        } else {
            return nil
        }
    }

    func holds(in status: Status) -> Bool {
        switch self {
        case .deck(let state): status.state == state
        case .armed: status.armed
        }
    }
}
