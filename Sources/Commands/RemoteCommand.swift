import ArgumentParser
import Control
import TakeFiles
import Takes
import Transport

/// What the stores have.
struct RemoteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remote", abstract: "The takes that a store has: list, fetch, delete, verify.",
        subcommands: [RemoteList.self, RemoteFetch.self, RemoteDelete.self, RemoteVerify.self],
        defaultSubcommand: RemoteList.self)

    @OptionGroup var options: GlobalOptions
}

/// Options of the commands that ask a store.
struct StoreOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The store, or how its name begins; needed if there are several.", valueName: "name"))
    var store: String?
}

extension Session {
    fileprivate func remote(_ store: StoreOptions) throws(Failure) -> RemoteTakes {
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

struct RemoteFetch: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch", abstract: "Copy takes from a store into a folder, and compare their hashes.",
        discussion: "Files that are there already are never overwritten.")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var store: StoreOptions
    @Option(help: ArgumentHelp("Where the folder of each day goes; here unless named.", valueName: "folder"))
    var to = "."
    @Argument(help: ArgumentHelp("A take's stem, its number, or 'last'.", valueName: "take"))
    var takes: [TakeReference]

    func run(in session: Session) throws(Failure) {
        let remote = try session.remote(store)
        var fetched: [String] = []
        for take in try remote.find(takes, for: "remote fetch") {
            let hashes = try take.hashes(remote)
            for file in take.files {
                let copy = FetchedFile("\(to)/\(file.path)")
                try copy.write(expecting: hashes[file.path] ?? file.sha256, file.bytes) { receive throws(Failure) in
                    try remote.read(file.path, receive)
                }
                fetched.append(copy.path)
                if !options.json { try session.write(line: copy.path) }
            }
        }
        guard options.json else { return }
        let list = JSONValue.array(fetched.map { .string($0) })
        try session.write(line: JSONValue.object(["files": list]).description)
    }
}

/// A file that is fetched: it has its name once it is whole, and its hash is right.
private struct FetchedFile {
    let path: String
    private let files = FileSystem()

    init(_ path: String) { self.path = path }

    /// - Parameters:
    ///   - sha256: nil: no hash is known.
    ///   - byteCount: how long it is as the store lists it; negative: it does not say.
    ///   - body: reads all bytes, and returns their hash.
    func write(
        expecting sha256: String?, _ byteCount: Int64,
        _ body: (([UInt8]) throws(Failure) -> Void) throws(Failure) -> String
    ) throws(Failure) {
        do {
            guard (try? files.openToRead(path)) == nil else {
                throw Failure(exitStatus: 73, "remote fetch: \(path): is there already: name another folder with --to")
            }
            let folder = try files.makeFolder(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
            let file = try files.create(path + ".part", isNew: false)
            var offset: Int64 = 0
            let found = try body { bytes throws(Failure) in
                guard byteCount < 0 || Int64(bytes.count) <= byteCount - offset else {
                    try? files.remove(path + ".part")
                    throw Failure(
                        exitStatus: 65,
                        "remote fetch: \(path): is longer than the store lists it: see the store's copy")
                }
                do throws(FileError) {
                    try files.write(bytes, to: file, at: offset)
                } catch {
                    throw Failure(exitStatus: 74, "remote fetch: \(error.fact)")
                }
                offset += Int64(bytes.count)
            }
            guard sha256 == nil || sha256 == found else {
                try? files.remove(path + ".part")
                throw Failure(
                    exitStatus: 65,
                    "remote fetch: \(path): is not what was recorded: its hash differs: see the store's copy")
            }
            try files.sync(file)
            try files.move(path + ".part", to: path)
            try files.syncFolder(folder)
        } catch let failure as Failure {
            throw failure
        } catch let error as FileError {
            throw Failure(exitStatus: 74, "remote fetch: \(error.fact)")
        } catch {
            throw Failure(exitStatus: 74, "remote fetch: \(path): \(error)")
        }
    }
}

/// A sidecar of a take of days has some hundred kilobytes.
private let longestSidecar = 1 << 24

extension RemoteTakes.Take {
    /// The hashes of its sound, as its sidecar there has them, by path; empty: it is not complete.
    fileprivate func hashes(_ remote: RemoteTakes) throws(Failure) -> [String: String] {
        try recorded(remote).hashes
    }

    /// The same, and what it says of the sound itself, by path.
    fileprivate func recorded(
        _ remote: RemoteTakes
    ) throws(Failure) -> (hashes: [String: String], sounds: [String: RecordedSound]) {
        guard let sidecar else { return ([:], [:]) }
        var bytes: [UInt8] = []
        let sha256 = try remote.read(sidecar.path) { piece throws(Failure) in
            guard bytes.count + piece.count <= longestSidecar else {
                throw Failure(
                    exitStatus: 65, "remote: \(sidecar.path): is too long for a sidecar: see the store's copy")
            }
            bytes += piece
        }
        var hashes = [sidecar.path: sha256]
        var sounds: [String: RecordedSound] = [:]
        do {
            let found = try SidecarFile.sidecar(bytes, path: sidecar.path)
            for sound in found.sounds { sounds["\(name.day)/\(sound.file)"] = sound }
            for part in found.parts {
                hashes["\(name.day)/\(part.file)"] = part.sha256
                if let twin = part.unfilteredFile { hashes["\(name.day)/\(twin)"] = part.unfilteredSHA256 }
            }
        } catch {
            throw Failure(exitStatus: 65, "remote: \(error)")
        }
        return (hashes, sounds)
    }
}

struct RemoteDelete: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete takes in a store for good, and with --here on the kit as well.",
        discussion: """
            Asks first, and says of each take whether the kit has it as well. A store has no bin; what is deleted on the kit goes into \
            its bin. A take that stays on the kit is not sent again, until \
            'fieldfare outbox add' says so. \
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
            let warning = "A store has no bin: nothing brings back what is deleted there\(try Self.bin(recorder))"
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
                // Without its sidecar a take is not taken for complete.
                for file in take.files where file == take.sidecar { try remote.delete(file.path) }
                for file in take.files where file != take.sidecar { try remote.delete(file.path) }
            }
            let rest = isOnKit && !here ? ": the kit still has it" : ""
            if !options.json { try session.write(line: "deleted \(take.stem)\(rest)") }
        }
        guard options.json else { return }
        let list = JSONValue.array(named.map { .string($0.stem) })
        try session.write(line: JSONValue.object(["deleted": list]).description)
    }

    /// Whether the library knows a copy of the kit, also one on a storage that is out: what is at home may be the better one.
    private static func isOnKit(_ stem: String, _ library: LibraryClient) throws(Failure) -> Bool {
        do throws(ControlError) {
            _ = try library.ask(.show(.stem(stem)))
            return true
        } catch {
            guard case .refused(let refusal) = error.cause, refusal.code == .notFound else { throw Failure(error) }
            return false
        }
    }

    /// Where a take goes that is deleted on the kit.
    /// - Parameter recorder: nil: the kit keeps its copy.
    private static func bin(_ recorder: ControlClient?) throws(Failure) -> String {
        guard let recorder else { return "" }
        do throws(ControlError) {
            return try recorder.hasBin() ? "; what is deleted on the kit goes into its bin" : ", nor on the kit"
        } catch {
            throw Failure(error)
        }
    }

    /// What the kit would refuse is refused before anything is deleted.
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

    /// Has the library delete what the kit has too: it compares both, and nobody else deletes either meanwhile.
    private static func delete(_ stem: String, _ deletion: Deletion, _ library: LibraryClient) throws(Failure) {
        do throws(ControlError) {
            _ = try library.ask(.delete(stem: stem, deletion), timeout: .seconds(180))
        } catch {
            throw Failure(error)
        }
    }
}

struct RemoteVerify: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Compare all that a store has with what was recorded.",
        discussion: """
            The hashes of the sound are those that the kit noted in each sidecar, and with --read also the fingerprints of the sound \
            itself. Without --read, sound whose hash the store does \
            not say is compared by its length alone. Exit status 65: something is missing or differs.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var store: StoreOptions
    @Flag(help: "Read all sound back, and compare its hash.") var read = false
    @Option(
        help: ArgumentHelp(
            "Write a manifest after RFC 8493 (BagIt) into this folder, for the store's files below data.",
            valueName: "folder"))
    var bag: String?

    func run(in session: Session) throws(Failure) {
        let client = try session.connectToLibrary()
        let remote = RemoteTakes(client, store: store.store)
        // Before the list: what is sent while the store is read is not missing.
        let sent = try sent(session, client)
        let (name, takes) = try remote.all()
        var report = VerifyReport(store: name, takes: takes.count)
        for take in takes { try verify(take, remote, &report) }
        let there = Set(takes.filter(\.isComplete).map(\.stem))
        for stem in sent where !there.contains(stem) {
            report.problems.append(.init(path: stem, problem: "missing: it was sent, and is not there"))
        }
        if let bag { try BagFiles(report).write(to: bag) }
        if options.json {
            try session.write(line: ((try? JSONValue(encoding: report)) ?? .null).description)
        } else {
            for line in report.lines { try session.write(line: line) }
        }
        guard report.problems.isEmpty else {
            let count = report.problems.count == 1 ? "1 file or take" : "\(report.problems.count) files or takes"
            throw Failure(exitStatus: 65, "remote verify: \(name): \(count) missing or different: see the report")
        }
    }

    private func verify(_ take: RemoteTakes.Take, _ remote: RemoteTakes, _ report: inout VerifyReport) throws(Failure) {
        guard take.isComplete else {
            return report.problems.append(
                .init(path: "\(take.name.day)/\(take.stem)", problem: "not complete: no sidecar"))
        }
        let (hashes, sounds): ([String: String], [String: RecordedSound])
        do throws(Failure) {
            (hashes, sounds) = try take.recorded(remote)
        } catch {
            guard error.exitStatus == 65 else { throw error }
            return report.problems.append(.init(path: take.sidecar?.path ?? take.stem, problem: error.description))
        }
        for path in hashes.keys.sorted() where !take.files.contains(where: { $0.path == path }) {
            report.problems.append(.init(path: path, problem: "missing"))
        }
        for file in take.files {
            let recorded = hashes[file.path]
            let sound = sounds[file.path]
            var problem = sound?.problem(ofLength: file.bytes)
            let isSound = recorded != nil && file != take.sidecar
            var proof = VerifyReport.Proof.length
            var found = recorded
            if isSound, !read {
                if let stated = file.sha256 { (proof, found) = (.stated, stated) }
            } else if file == take.sidecar {
                proof = .read
            } else {
                var reading: RemoteSound?
                if let sound { reading = try RemoteSound(sound) }
                let sha256 = try remote.read(file.path) { bytes throws(Failure) in try reading?.add(bytes) }
                (proof, found) = (.read, sha256)
                if problem == nil { problem = try reading?.problem() }
            }
            if let recorded, found != recorded {
                report.problems.append(.init(path: file.path, problem: "differs from what was recorded"))
            } else if let problem {
                report.problems.append(.init(path: file.path, problem: problem))
            } else {
                report.add(.init(path: file.path, bytes: file.bytes, sha256: found ?? "", proof: proof))
            }
        }
    }

    /// The takes that were sent to all stores, as far as the kit still has them.
    private func sent(_ session: Session, _ client: LibraryClient) throws(Failure) -> [String] {
        var query = TakeQuery()
        query.upload = .done
        var stems: [String] = []
        try LibraryTakes(session, client).pages(query, nil) { (takes: [CatalogedTake]) throws(Failure) in
            stems += takes.map(\.take)
        }
        return stems
    }
}
