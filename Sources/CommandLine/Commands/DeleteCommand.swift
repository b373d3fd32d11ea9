import ArgumentParser
import Control
import TakeFiles
import Takes
import Transport

struct DeleteCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete takes: sound, sidecar and waveform.",
        discussion: """
            Asks first. They go into the bin, from which 'fieldfare bin restore' brings them back for 30 days, unless their space is \
            needed before. The recorder deletes them, so it must run; it refuses a take that is being recorded or played. A library \
            that runs refuses one that somebody else deletes just then. \
            If one of the takes cannot be found, none is deleted.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Delete without a question.") var yes = false
    @Flag(help: "Delete for good, past the bin. Asks twice.") var now = false
    @Argument(help: ArgumentHelp("A take's stem, its number, or 'last'.", valueName: "take"))
    var takes: [TakeReference]

    /// The deletion waits until the archivist has finished its current write.
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
        let keeps = try hasBin(client) && !now
        if !yes {
            guard try isAgreed(named, kit, keeps: keeps, session) else {
                return try session.write(line: "nothing is deleted")
            }
        }
        var failures: [(take: String, failure: Failure)] = []
        var deleted: [String] = []
        for take in named {
            do throws(ControlError) {
                try Self.delete(take, in: kit.folder, client, library, isFinal: now)
            } catch {
                failures.append((take.stem, Failure(error)))
                continue
            }
            deleted.append(take.stem)
            if !options.json { try session.write(line: "deleted \(take.stem)") }
        }
        if options.json {
            try session.write(line: json(deleted, failures, keeps: keeps).description)
        } else if keeps, !deleted.isEmpty {
            let (what, them) = deleted.count == 1 ? ("it is", "it") : ("they are", "them")
            let command = "fieldfare bin restore \(deleted.joined(separator: " "))"
            try session.write(line: "\(what) in the bin: '\(command)' brings \(them) back")
        }
        for failure in failures.dropFirst() { session.console.complain(failure.failure.description) }
        if let first = failures.first { throw first.failure }
    }

    /// Deletes the take that was shown, in this folder. The library deletes it, because it knows who relies on this
    /// copy. If the library is not running or does not know the take, the recorder deletes it.
    static func delete(
        _ take: TakeName, in folder: TakesFolder, _ recorder: ControlClient, _ library: LibraryClient?,
        isFinal: Bool = false
    ) throws(ControlError) {
        let version = (try? folder.sidecar(of: take))?.version(day: take.day)
        if let library {
            do throws(ControlError) {
                _ = try library.ask(.delete(stem: take.stem, Deletion(.here, isFinal: isFinal)), timeout: timeout)
                // An older library does not know the bin.
                if isFinal, (try? folder.binnedTakes())?.contains(where: { $0.take == take }) == true {
                    _ = try recorder.ask(.command(.empty(stem: take.stem)), timeout: timeout)
                }
                return
            } catch {
                guard case .refused(let refusal) = error.cause, refusal.code == .notFound else { throw error }
            }
        }
        let terms = DiscardTerms(version, day: take.day, in: folder.path, isFinal: isFinal)
        _ = try recorder.ask(.command(.discard(stem: take.stem, terms)), timeout: timeout)
    }

    private func hasBin(_ recorder: ControlClient) throws(Failure) -> Bool {
        do throws(ControlError) { return try recorder.hasBin() } catch { throw Failure(error) }
    }

    /// - Parameter keeps: whether the takes go into the bin. To delete them for good, a person must confirm twice.
    private func isAgreed(
        _ takes: [TakeName], _ kit: KitTakes, keeps: Bool, _ session: Session
    ) throws(Failure) -> Bool {
        for take in takes {
            let line = (try? kit.folder.sidecar(of: take)).map { TakeLine($0).text(stemWidth: 0) }
            session.console.complain(line ?? take.stem)
        }
        let what = takes.count == 1 ? "this take" : "these \(takes.count) takes"
        var questions = [keeps ? "Delete \(what)? [y/N]" : "Delete \(what) for good? [y/N]"]
        if now { questions.append("Nothing brings \(takes.count == 1 ? "it" : "them") back. Delete for good? [y/N]") }
        for question in questions {
            guard let answer = session.console.ask(question) else {
                throw Failure(
                    exitStatus: 64,
                    "fieldfare delete: the input is not a terminal: add --yes to delete without a question")
            }
            guard ["y", "yes"].contains(answer.lowercased()) else { return false }
        }
        return true
    }

    /// - Parameter keeps: whether the deleted takes are in the bin.
    private func json(
        _ deleted: [String], _ failures: [(take: String, failure: Failure)], keeps: Bool
    ) -> JSONValue {
        var members: [String: JSONValue] = [
            "deleted": .array(deleted.map { .string($0) }),
            "failed": .array(
                failures.map {
                    .object(["take": .string($0.take), "message": .string($0.failure.description)])
                }),
        ]
        if keeps { members["in_bin"] = .bool(true) }
        return .object(members)
    }
}
