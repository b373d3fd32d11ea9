import ArgumentParser
import Control
import Takes
import Transport

/// Shows and manages the content of the stores.
struct RemoteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remote", abstract: "The takes that a store has: list, fetch, delete, verify.",
        subcommands: [RemoteList.self, RemoteFetch.self, RemoteDelete.self, RemoteVerify.self],
        defaultSubcommand: RemoteList.self)

    @OptionGroup var options: GlobalOptions
}

/// Options of the commands that query a store.
struct StoreOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The store, or how its name begins; needed if there are several.", valueName: "name"))
    var store: String?
}

extension Session {
    func remote(_ store: StoreOptions) throws(Failure) -> RemoteTakes {
        RemoteTakes(try connectToLibrary(), store: store.store)
    }
}

struct RemoteList: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the takes that a store has, the newest first.")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var store: StoreOptions

    func run(in session: Session) throws(Failure) {
        let (name, takes) = try session.remote(store).all()
        guard !options.json else {
            let list = takes.map { take in
                JSONValue.object([
                    "take": .string(take.stem), "day": .string(take.name.day), "bytes": .integer(Int(take.bytes)),
                    "complete": .bool(take.isComplete),
                    "files": .array(take.files.compactMap { try? JSONValue(encoding: $0) }),
                ])
            }
            return try session.write(
                line: JSONValue.object(["store": .string(name), "takes": .array(list)]).description)
        }
        let width = takes.map { $0.stem.utf8.count }.max() ?? 0
        for take in takes {
            let stem = take.stem + String(repeating: " ", count: width - take.stem.utf8.count)
            let count = take.files.count == 1 ? "1 file" : "\(take.files.count) files"
            let remark = take.isComplete ? "" : "  not complete"
            try session.write(line: "\(take.name.day)  \(stem)  \(count), \(Figures.size(take.bytes))\(remark)")
        }
        let bytes = takes.map(\.bytes).total
        try session.write(
            line: "\(name.printable): \(takes.count == 1 ? "1 take" : "\(takes.count) takes"), \(Figures.size(bytes))")
    }
}

struct RemoteDelete: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete takes in a store for good, and with --here on the kit as well.",
        discussion: """
            Asks first, and says of each take whether the kit has it as well. A store has no bin; takes deleted on the kit go into \
            its bin. A take that stays on the kit is sent again only after 'fieldfare outbox add'. \
            If one of the takes cannot be found, none is deleted.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var store: StoreOptions
    @Flag(help: "Delete them on the kit as well.") var here = false
    @Flag(help: "Delete without a question.") var yes = false
    @Argument(help: ArgumentHelp("A take's stem, its number, or 'last'.", valueName: "take"))
    var takes: [TakeReference]

    func run(in session: Session) throws(Failure) {
        let remote = try session.remote(store)
        let (name, _) = try remote.all()
        let named = try remote.find(takes, for: "remote delete")
        let recorder = here ? try session.connect() : nil
        let library = try session.connectToLibrary()
        let onKit = try named.map { take throws(Failure) in try Self.isOnKit(take.stem, library) }
        if !yes {
            for (take, isOnKit) in zip(named, onKit) {
                let place = isOnKit ? "also on the kit" : "not on the kit"
                session.console.complain("\(take.stem)  \(Figures.size(take.bytes))  \(place)")
            }
            let place = here ? "\(name.printable) and on the kit" : name.printable
            let what = named.count == 1 ? "this take" : "these \(named.count) takes"
            let warning = "A store has no bin: takes deleted there cannot be restored\(try Self.bin(recorder))"
            guard let answer = session.console.ask("\(warning). Delete \(what) in \(place)? [y/N]") else {
                throw Failure(
                    exitStatus: 64,
                    "fieldfare remote delete: the input is not a terminal: add --yes to delete without a question")
            }
            guard ["y", "yes"].contains(answer.lowercased()) else {
                return try session.write(line: "nothing is deleted")
            }
        }
        if let recorder { for take in named { try Self.checkNotInUse(take.stem, recorder) } }
        for (take, isOnKit) in zip(named, onKit) {
            if isOnKit {
                try Self.delete(take.stem, Deletion(here ? .both : .there, store: name), library)
            } else {
                // The sidecar is deleted first: without it, the take does not count as complete.
                let files = try remote.ownFiles(of: take)
                for file in files where file == take.sidecar { try remote.delete(file.path) }
                for file in files where file != take.sidecar { try remote.delete(file.path) }
            }
            let rest = isOnKit && !here ? ": the kit still has it" : ""
            if !options.json { try session.write(line: "deleted \(take.stem)\(rest)") }
        }
        guard options.json else { return }
        let list = JSONValue.array(named.map { .string($0.stem) })
        try session.write(line: JSONValue.object(["deleted": list]).description)
    }

    /// Whether the library knows a copy on the kit, including one on storage that is not plugged in. The copy in the
    /// store may be the better one.
    private static func isOnKit(_ stem: String, _ library: LibraryClient) throws(Failure) -> Bool {
        do throws(ControlError) {
            _ = try library.ask(.show(.stem(stem)))
            return true
        } catch {
            guard case .refused(let refusal) = error.cause, refusal.code == .notFound else { throw Failure(error) }
            return false
        }
    }

    /// Says where the kit's copy of a deleted take goes.
    /// - Parameter recorder: nil if the kit keeps its copy.
    private static func bin(_ recorder: ControlClient?) throws(Failure) -> String {
        guard let recorder else { return "" }
        do throws(ControlError) {
            return try recorder.hasBin()
                ? "; takes deleted from the kit go into its bin" : "; nor can takes deleted from the kit"
        } catch {
            throw Failure(error)
        }
    }

    /// Refuses a deletion that the kit would refuse, before anything is deleted.
    private static func checkNotInUse(_ stem: String, _ recorder: ControlClient) throws(Failure) {
        let taken: String?
        do throws(ControlError) {
            taken = try recorder.ask(.status)["take"]?.text
        } catch {
            throw Failure(error)
        }
        guard taken != stem else {
            throw Failure(
                exitStatus: 75,
                "remote delete: \(stem): it is being played or recorded: stop it first: nothing is deleted")
        }
    }

    /// Makes the library delete a take that the kit also has. The library compares both copies, and no other process
    /// deletes either of them meanwhile.
    private static func delete(_ stem: String, _ deletion: Deletion, _ library: LibraryClient) throws(Failure) {
        do throws(ControlError) {
            _ = try library.ask(.delete(stem: stem, deletion), timeout: .seconds(180))
        } catch {
            throw Failure(error)
        }
    }
}
