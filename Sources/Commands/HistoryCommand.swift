import ArgumentParser
import Control
import History
import TakeFiles
import Takes

struct HistoryCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show what happened to the kit: starts, presses, takes, faults, temperatures.",
        discussion: """
            The recorder keeps it below /var/lib/fieldfare/history, bounded to 16 MiB, and each event is on the disk about when it \
            happens. It is read from there: no service needs to run. Times are in UTC, by the date that the kit had then; behind \
            them stands how long the machine was running.

            KIND is start, press, take, fault, card, clock or measure. TIME is a day such as 2026-11-21, or a date and time with its \
            zone, such as 2026-11-21T06:18:11Z.
            """)

    @OptionGroup var options: GlobalOptions

    @Option(help: ArgumentHelp("Only from this time on.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only events of this kind; may be repeated.", valueName: "kind"))
    var kind: [HistoryKind] = []

    @Option(help: ArgumentHelp("At most so many, the newest; 0: all.", valueName: "count"))
    var limit = 100

    @Option(
        name: .customLong("directory"),
        help: ArgumentHelp(
            "Read the history from this folder, such as one that was copied from a kit.", valueName: "path"))
    var folder: String?

    func validate() throws {
        guard limit >= 0 else { throw ValidationError("--limit: allowed is 0 or more") }
    }

    func run(in session: Session) throws(Failure) {
        let since: WallTime?
        if let text = self.since { since = try WallTime(typedDay: text, for: "history --since") } else { since = nil }
        let history = HistoryFolder(folder ?? session.access.history)
        let found: (records: [HistoryRecord], damaged: Int)
        do throws(FileError) {
            found = try history.records(since: since)
        } catch {
            throw Failure(exitStatus: 74, "history: \(error.fact)")
        }
        var records = found.records
        if !kind.isEmpty { records.removeAll { !kind.contains(HistoryKind($0.event)) } }
        if limit > 0 { records = records.suffix(limit) }
        if options.json { return try write(records, damaged: found.damaged, to: session) }
        for record in records {
            try session.write(line: HistoryText.line(record, showsUnicode: session.console.showsUnicode))
        }
        if records.isEmpty { session.console.complain("history: \(history.path): there is nothing from then") }
        if found.damaged > 0 {
            session.console.complain("history: \(history.path): \(found.damaged) lines are damaged, and left out")
        }
    }

    private func write(_ records: [HistoryRecord], damaged: Int, to session: Session) throws(Failure) {
        let list: [JSONValue]
        do {
            list = try records.map { try JSONValue(encoding: $0) }
        } catch {
            throw Failure(exitStatus: 70, "history: cannot be written as JSON: \(error)")
        }
        try session.write(json: .object(["history": .array(list), "damaged": .integer(damaged)]))
    }
}

/// A kind of event, as a person asks for it.
enum HistoryKind: String, ExpressibleByArgument, CaseIterable {
    case start, press, take, fault, card, clock, measure

    init(_ event: HistoryEvent) {
        self =
            switch event {
            case .started, .ended: .start
            case .pressed, .leftOut: .press
            case .takeBegan, .takeEnded: .take
            case .faultBegan, .faultEnded: .fault
            case .card: .card
            case .clock: .clock
            case .measured: .measure
            }
    }
}
