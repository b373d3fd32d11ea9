import ArgumentParser
import Control
import Files
import Glibc
import History
import Takes

struct HistoryCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show the events of the kit: starts, presses, takes, faults, temperatures.",
        discussion: """
            The recorder keeps it below /var/lib/fieldfare/history, bounded to 16 MiB, and each event is on the disk about when it \
            happens. This command reads the files, so no service needs to run. Times are in UTC, by the date that the kit had then, \
            followed by the time since the machine started.

            KIND is start, press, take, fault, card, clock or measure. TIME is a day such as 2026-11-21, today, yesterday or \
            monday, or a date and time with its zone, such as 2026-11-21T06:18:11Z.
            """)

    @OptionGroup var options: GlobalOptions

    @Option(help: ArgumentHelp("Only from this time on.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only events of this kind; may be repeated.", valueName: "kind"))
    var kind: [HistoryKind] = []

    @Option(help: ArgumentHelp("The newest entries, at most this many; 0 lists all.", valueName: "count"))
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
        let since = try self.since.map { text throws(Failure) in
            try WallTime(typedDay: text, for: "history --since", now: session.clock.wallTime())
        }
        let history = HistoryFolder(folder ?? session.access.history)
        let found: HistoryFolder.Contents
        do throws(FileError) {
            // The kit's usual folder is created with the first event, so it may be missing.
            if folder != nil { _ = try FileSystem().entries(history.path) }
            found = try history.records(since: since)
        } catch {
            throw Failure(exitStatus: error.code == ENOENT ? 66 : 74, "history: \(error.fact)")
        }
        var records = found.records
        if !kind.isEmpty { records.removeAll { !HistoryKind.kinds(of: $0.event).contains(where: kind.contains) } }
        let count = records.count
        if limit > 0 { records = records.suffix(limit) }
        if records.count < count, !options.json {
            session.console.complain("history: these are the newest \(limit) of \(count); --limit 0 shows all")
        }
        for sentence in found.unreadable { session.console.complain("history: \(sentence): it is left out") }
        if options.json { return try write(records, found, to: session) }
        for record in records {
            try session.write(line: HistoryText.line(record, showsUnicode: session.console.showsUnicode))
        }
        if records.isEmpty {
            session.console.complain("history: \(history.path): no events\(since == nil ? "" : " from then on")")
        }
        if found.damaged > 0 {
            session.console.complain("history: \(history.path): \(found.damaged) lines are damaged, and left out")
        }
    }

    private func write(
        _ records: [HistoryRecord], _ found: HistoryFolder.Contents, to session: Session
    ) throws(Failure) {
        // Each record is already a line of JSON, so a history of 16 MiB need not be held as a tree.
        let lines = records.compactMap(\.line).map { String(decoding: $0.dropLast(), as: UTF8.self) }
        let damaged = found.damaged + records.count - lines.count
        let unreadable: JSONValue = .array(found.unreadable.map { .string($0) })
        try session.write(
            line: "{\"damaged\":\(damaged),\"history\":[\(lines.joined(separator: ","))],\"unreadable\":\(unreadable)}")
    }
}

/// A kind of event, as an option.
enum HistoryKind: String, ExpressibleByArgument, CaseIterable {
    case start, press, take, fault, card, clock, measure, phone

    /// The kinds of an event. Omitted events may have been of several kinds.
    static func kinds(of event: HistoryEvent) -> [Self] {
        switch event {
        case .started, .ended: [.start]
        case .pressed: [.press]
        case .leftOut: [.press, .fault, .take, .card, .clock, .phone]
        case .takeBegan, .takeEnded: [.take]
        case .faultBegan, .faultEnded: [.fault]
        case .card: [.card]
        case .clock: [.clock]
        case .measured: [.measure]
        case .phone: [.phone]
        }
    }
}
