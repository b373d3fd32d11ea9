import ArgumentParser
import Control
import Files
import TakeFiles
import Takes
import Transport

/// Deleted takes that can be restored.
struct BinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bin", abstract: "Deleted takes: list them, bring one back, delete them for good.",
        discussion: """
            A deleted take stays in the bin for 30 days, unless its space is needed before. Takes in the bin count as free space.
            """,
        subcommands: [BinList.self, BinRestore.self, BinEmpty.self], defaultSubcommand: BinList.self)

    @OptionGroup var options: GlobalOptions
}

struct BinList: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the takes in the bin, the earliest deletion first.")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var place: TakesOptions

    func run(in session: Session) throws(Failure) {
        let bin = try BinnedTakes(of: session, for: "bin", directory: place.directory)
        guard !options.json else {
            return try session.write(line: JSONValue.array(bin.items.map(bin.json)).description)
        }
        guard !bin.items.isEmpty else { return try session.write(line: "the bin is empty") }
        for item in bin.items { try session.write(line: bin.line(item)) }
        let free = bin.items.filter(\.isFree)
        let (count, bytes) = (free.count, free.map(\.byteCount).total)
        try session.write(
            line: "\(count == 1 ? "1 take" : "\(count) takes"), \(Figures.size(bytes)), which count as free")
        for item in bin.items { if let reason = bin.reasonToStay(item) { try session.write(line: reason) } }
    }
}

struct BinRestore: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Bring deleted takes back, with their notes.",
        discussion: "The recorder must run. 'last' is the take that was deleted last.")

    @OptionGroup var options: GlobalOptions
    @Argument(help: ArgumentHelp("A take's stem, its number, or 'last'.", valueName: "take"))
    var takes: [TakeReference]

    func run(in session: Session) throws(Failure) {
        let recorder = try session.connectToBin(for: "bin restore")
        let bin = try BinnedTakes(of: session, for: "bin restore", directory: nil)
        var named: [TakeName] = []
        for reference in takes {
            let take = try bin.find(reference, for: "bin restore")
            if !named.contains(take) { named.append(take) }
        }
        var restored: [String] = []
        var first: Failure?
        for take in named {
            do throws(ControlError) {
                let order = Command.restore(stem: take.stem, day: take.day)
                _ = try recorder.ask(.command(order), timeout: .seconds(60))
            } catch {
                let failure = Failure(error)
                if first == nil { first = failure } else { session.console.complain(failure.description) }
                continue
            }
            restored.append(take.stem)
            if !options.json { try session.write(line: "restored \(take.stem)") }
        }
        if options.json {
            try session.write(line: JSONValue.object(["restored": .array(restored.map { .string($0) })]).description)
        }
        if let first { throw first }
    }
}

struct BinEmpty: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "empty", abstract: "Delete the takes in the bin for good.",
        discussion: """
            Asks first. Without a name, it deletes all takes that count as free. The recorder must run.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: ArgumentHelp("A take's stem, its number, or 'last'.", valueName: "take"))
    var takes: [TakeReference] = []
    @Flag(help: "Delete without a question.") var yes = false

    func run(in session: Session) throws(Failure) {
        let recorder = try session.connectToBin(for: "bin empty")
        let bin = try BinnedTakes(of: session, for: "bin empty", directory: nil)
        let listed = try wanted(in: bin)
        if takes.isEmpty, listed.isEmpty, let reason = bin.items.lazy.compactMap(bin.reasonToStay).first {
            throw Failure(exitStatus: 75, "bin empty: \(reason)")
        }
        let isAgreed = listed.isEmpty ? true : try isAgreed(listed, bin, session)
        guard isAgreed else {
            return try session.write(line: "nothing is deleted")
        }
        // Each take is named, because the bin may contain more takes than when it was listed.
        var deleted: [String] = []
        var first: Failure?
        for item in listed {
            do throws(ControlError) {
                _ = try recorder.ask(.command(.empty(stem: item.take.stem)), timeout: .seconds(600))
            } catch {
                let failure = Failure(error)
                if first == nil { first = failure } else { session.console.complain(failure.description) }
                continue
            }
            deleted.append(item.take.stem)
            if !options.json { try session.write(line: "deleted \(item.take.stem) for good") }
        }
        if options.json {
            try session.write(line: JSONValue.object(["deleted": .array(deleted.map { .string($0) })]).description)
        } else if listed.isEmpty {
            try session.write(line: "the bin is empty")
        }
        if let first { throw first }
    }

    /// The named takes, or all takes that may leave the bin.
    private func wanted(in bin: BinnedTakes) throws(Failure) -> [TakesBin.Item] {
        guard !takes.isEmpty else { return bin.items.filter { bin.reasonToStay($0) == nil } }
        var named: [TakeName] = []
        for reference in takes { named.append(try bin.find(reference, for: "bin empty")) }
        return bin.items.filter { named.contains($0.take) }
    }

    private func isAgreed(
        _ listed: [TakesBin.Item], _ bin: BinnedTakes, _ session: Session
    ) throws(Failure) -> Bool {
        if yes { return true }
        for item in listed { session.console.complain(bin.line(item)) }
        let question =
            listed.count == 1
            ? "Delete this take for good? [y/N]" : "Delete these \(listed.count) takes for good? [y/N]"
        guard let answer = session.console.ask(question) else {
            throw Failure(
                exitStatus: 64,
                "fieldfare bin empty: the input is not a terminal: add --yes to delete without a question")
        }
        return ["y", "yes"].contains(answer.lowercased())
    }
}

/// The bin. The command line reads its folder directly.
struct BinnedTakes {
    let folder: TakesFolder
    /// The oldest first.
    let items: [TakesBin.Item]

    init(of session: Session, for command: String, directory: String?) throws(Failure) {
        folder = try KitTakes(of: session, for: command, directory: directory).folder
        do throws(FileError) {
            items = try folder.binnedTakes()
        } catch {
            throw Failure(reading: error, command)
        }
    }

    func find(_ reference: TakeReference, for command: String) throws(Failure) -> TakeName {
        let found = reference == .last ? items.suffix(1) : items.filter { reference.names($0.take) }
        guard let item = found.first else {
            throw Failure(exitStatus: 66, "\(command): \(reference): no such take in the bin of \(folder.path)")
        }
        guard found.count == 1 else {
            let places = found.prefix(5).map { "\($0.take.day)/\($0.take.stem)" }.joined(separator: ", ")
            throw Failure(
                exitStatus: 65, "\(command): \(reference): there are \(found.count): \(places): name one by its stem")
        }
        return item.take
    }

    /// The reason why a take stays in the bin when the others are deleted, as a sentence, or nil.
    func reasonToStay(_ item: TakesBin.Item) -> String? {
        if item.isTwice {
            return "\(item.take.stem): \(TakesBin.copiedBack(item.take, to: folder.folder(of: item.take)))"
        }
        let files = item.putBack.map { "\(folder.folder(of: item.take))/\($0)" }.joined(separator: ", ")
        if !files.isEmpty { return "\(item.take.stem): \(TakesBin.putBack(files, of: item.take))" }
        return item.hasSidecar ? nil : "\(item.take.stem): \(TakesBin.withoutSidecar(item.take))"
    }

    func line(_ item: TakesBin.Item) -> String {
        let take = (try? folder.binnedSidecar(of: item.take)).map { TakeLine($0).text(stemWidth: 0) } ?? item.take.stem
        let deleted = item.binned.flatMap { WallTime(iso8601: $0) }.map { "deleted \($0.date) \($0.timeOfDay)" }
        return "\(take)  \(deleted ?? "deleted while the clock was not set")"
    }

    func json(_ item: TakesBin.Item) -> JSONValue {
        let sidecar = try? folder.binnedSidecar(of: item.take)
        return .object([
            "take": .string(item.take.stem), "number": .integer(item.take.number), "day": .string(item.take.day),
            "bytes": .integer(Int(item.byteCount)), "binned": item.binned.map { .string($0) } ?? .null,
            "started": sidecar.map { .string($0.startedCorrected ?? $0.started) } ?? .null,
            "duration_seconds": sidecar.map { .double($0.durationSeconds) } ?? .null,
            "put_back": .array(item.putBack.map { .string($0) }), "sidecar": .bool(item.hasSidecar),
        ])
    }
}

extension ControlClient {
    /// Whether the recorder has a bin. An older recorder deletes for good.
    func hasBin() throws(ControlError) -> Bool { try askForStatus(.status).1["bin_bytes"]?.integer != nil }
}

extension Session {
    fileprivate func connectToBin(for command: String) throws(Failure) -> ControlClient {
        let recorder = try connect()
        let (status, hasBin): (Status, Bool)
        do throws(ControlError) {
            let (found, reply) = try recorder.askForStatus(.status)
            (status, hasBin) = (found, reply["bin_bytes"]?.integer != nil)
        } catch {
            throw Failure(error)
        }
        guard status.directory != nil else {
            throw Failure(exitStatus: 74, "\(command): the folder for takes is not there: see 'fieldfare status'")
        }
        guard hasBin else {
            throw Failure(
                exitStatus: 75,
                "\(command): the recorder is of version \(status.version), which has no bin and deletes for good: update it"
            )
        }
        return recorder
    }
}
