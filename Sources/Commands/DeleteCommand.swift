import ArgumentParser
import Control
import TakeFiles
import Takes
import Transport

struct DeleteCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete takes: sound, sidecar and waveform, for good.",
        discussion: """
            Asks first. The recorder deletes them, so it must run; it refuses a take that is being recorded or played. A library \
            that runs refuses one that somebody else deletes just then. \
            If one of the takes cannot be found, none is deleted.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Delete without a question.") var yes = false
    @Argument(help: ArgumentHelp("A take's stem, its number, or 'last'.", valueName: "take"))
    var takes: [TakeReference]

    /// It waits for what the archivist writes just then.
    private static let timeout = Duration.seconds(60)

    func run(in session: Session) throws(Failure) {
        let client = try session.connect()
        let library = try session.libraryIfRunning()
        let kit = try KitTakes(of: session, for: "delete", directory: nil)
        var named: [TakeName] = []
        for reference in takes {
            let take = try kit.find(reference, for: "delete")
            if !named.contains(take) { named.append(take) }
        }
        if !yes {
            guard try isAgreed(named, kit, session) else { return try session.write(line: "nothing is deleted") }
        }
        var failures: [(take: String, failure: Failure)] = []
        var deleted: [String] = []
        for take in named {
            do throws(ControlError) {
                try Self.delete(take, in: kit.folder, client, library)
            } catch {
                failures.append((take.stem, Failure(error)))
                continue
            }
            deleted.append(take.stem)
            if !options.json { try session.write(line: "deleted \(take.stem)") }
        }
        if options.json { try session.write(line: json(deleted, failures).description) }
        for failure in failures.dropFirst() { session.console.complain(failure.failure.description) }
        if let first = failures.first { throw first.failure }
    }

    /// Has a take deleted: by the library, which knows who relies on this copy, or, if that does not run or does not know the take, by the
    /// recorder: the take that was shown, in this folder, and no other.
    static func delete(
        _ take: TakeName, in folder: TakesFolder, _ recorder: ControlClient, _ library: LibraryClient?
    ) throws(ControlError) {
        let version = (try? folder.sidecar(of: take))?.version(day: take.day)
        if let library {
            do throws(ControlError) {
                _ = try library.ask(.delete(stem: take.stem, Deletion(.here)), timeout: timeout)
                return
            } catch {
                guard case .refused(let refusal) = error.cause, refusal.code == .notFound else { throw error }
            }
        }
        let terms = DiscardTerms(version, day: take.day, in: folder.path)
        _ = try recorder.ask(.command(.discard(stem: take.stem, terms)), timeout: timeout)
    }

    private func isAgreed(_ takes: [TakeName], _ kit: KitTakes, _ session: Session) throws(Failure) -> Bool {
        for take in takes {
            let line = (try? kit.folder.sidecar(of: take)).map { TakeLine($0).text(stemWidth: 0) }
            session.console.complain(line ?? take.stem)
        }
        let question =
            takes.count == 1 ? "Delete this take for good? [y/N]" : "Delete these \(takes.count) takes for good? [y/N]"
        guard let answer = session.console.ask(question) else {
            throw Failure(
                exitStatus: 64, "fieldfare delete: the input is not a terminal: add --yes to delete without a question")
        }
        return ["y", "yes"].contains(answer.lowercased())
    }

    private func json(_ deleted: [String], _ failures: [(take: String, failure: Failure)]) -> JSONValue {
        .object([
            "deleted": .array(deleted.map { .string($0) }),
            "failed": .array(
                failures.map {
                    .object(["take": .string($0.take), "message": .string($0.failure.description)])
                }),
        ])
    }
}
