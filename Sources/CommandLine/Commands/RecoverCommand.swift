import ArgumentParser
import Control
import Files
import Glibc
import TakeFiles
import Takes

struct RecoverCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover", abstract: "Recover takes after a power cut or a crash.",
        discussion: """
            A running recorder recovers takes by itself; this is for the storage of another kit, or while the recorder is \
            down. A finished take whose sidecar is missing or damaged, or lists no sound, gets a new one, made from its sound \
            files; the damaged one is kept as STEM.json.damaged. Other finished takes are not touched, nor are files that are \
            not sound: these are named. The caller needs the right to write there.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: ArgumentHelp("The directory of takes; that of the settings unless named.", valueName: "dir"))
    var directory: String?

    func run(in session: Session) throws(Failure) {
        let path = try place(session)
        let (results, unreadable) = try FolderOwner.run(of: path) { () throws(Failure) in try recover(path, session) }
        if options.json {
            try session.write(
                json: .object(["directory": .string(path), "takes": .array(results.map(\.json))]))
        } else if results.isEmpty, unreadable.isEmpty {
            try session.write(line: "\(path): nothing to recover")
        }
        let failures = results.compactMap(\.failure)
        guard let first = failures.first else {
            if let failure = unreadable.first.map({ Failure($0) }) {
                throw Failure(exitStatus: failure.exitStatus, "recover: passed over: \(failure.description)")
            }
            let left = results.compactMap(\.reasonToLeave)
            guard let reason = left.first else { return }
            let count = left.count == 1 ? "1 take is" : "\(left.count) takes are"
            throw Failure(exitStatus: 65, "recover: \(count) not recovered: \(reason)")
        }
        let count = failures.count == 1 ? "1 take is" : "\(failures.count) takes are"
        throw Failure(exitStatus: first.exitStatus, "recover: \(count) not recovered yet: \(first.description)")
    }

    /// The directory, which must exist. A mistyped path is not created.
    private func place(_ session: Session) throws(Failure) -> String {
        var path: String
        if let directory { path = directory } else { path = try session.access.places(options.settings).takes }
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        let isOfTakes: Bool
        do throws(FileError) {
            isOfTakes = try TakesDirectory.isOne(path)
        } catch {
            switch error.code {
            case ENOENT, ENOTDIR: throw Failure(exitStatus: 66, "recover: \(path): no such directory")
            default: throw Failure(error, of: "recover: ")
            }
        }
        // The folder of the settings may not contain takes yet.
        guard isOfTakes || directory == nil else {
            throw Failure(
                exitStatus: 66,
                "recover: \(path): it has no takes: name the directory with the folders of the days, such as "
                    + "\(path)/takes")
        }
        return path
    }

    /// - Returns: the result for each take, and why some days could not be read.
    private func recover(
        _ path: String, _ session: Session
    ) throws(Failure) -> (results: [Result], unreadable: [FileError]) {
        let takes: TakesDirectory
        do {
            takes = try TakesDirectory(path: path)
        } catch let error as TakesLockError {
            let other = error.processID.map { "pid \($0)" } ?? "another process"
            throw Failure(
                exitStatus: 75,
                "recover: \(path): \(other) has it open: a recorder that runs recovers takes by itself")
        } catch let error as FileError {
            throw Failure(error, of: "recover: ")
        } catch {
            throw Failure(exitStatus: 70, "recover: \(path): \(error)")
        }
        // A take that was moved into the bin only partly is not a leftover. The move is completed.
        takes.readBin(
            at: BinMoment(
                session.clock.now(), wall: session.clock.wallTime(), origin: .unset, bootID: session.access.bootID()))
        for problem in takes.bin.newProblems() { session.console.complain("recover: \(problem)") }
        let names: [TakeName]
        do throws(FileError) {
            names = Set(try takes.leftovers() + takes.takesWithDamagedSidecars()).sorted()
        } catch {
            throw Failure(error, of: "recover: ")
        }
        var results: [Result] = []
        for name in names {
            let result = recover(name, in: takes, bootID: session.access.bootID())
            // Each result is shown at once, because hours of sound take a while.
            if !options.json { try session.write(line: result.line) }
            results.append(result)
        }
        return (results, takes.newlyUnreadable())
    }

    private func recover(_ name: TakeName, in takes: TakesDirectory, bootID: String) -> Result {
        let recovery = TakeRecovery(of: name, in: takes, bootID: bootID)
        do throws(FileError) {
            while true {
                if let outcome = try recovery.step() {
                    return Result(take: name, came: .to(outcome), shortcomings: recovery.shortcomings)
                }
            }
        } catch {
            return Result(take: name, came: .failed(Failure(error)), shortcomings: recovery.shortcomings)
        }
    }
}

extension RecoverCommand {
    /// The result for one take.
    private struct Result {
        enum Came {
            case to(TakeRecovery.Outcome)
            case failed(Failure)
        }

        var take: TakeName
        var came: Came
        /// The parts that the recovered take lacks.
        var shortcomings: [String]

        var failure: Failure? {
            if case .failed(let failure) = came { failure } else { nil }
        }

        /// Why the take was left unchanged.
        var reasonToLeave: String? {
            if case .to(.left(let reason)) = came { reason } else { nil }
        }

        var line: String { ([outcome] + shortcomings).joined(separator: "; ") }

        private var outcome: String {
            switch came {
            case .to(.recovered(let sidecar)):
                let cause = sidecar.endedBy?.rawValue ?? "unknown"
                return "\(take.stem): recovered, \(Figures.time(sidecar.durationSeconds)), ended by \(cause)"
            case .to(.discarded): return "\(take.stem): it was deleted; its remaining files are removed"
            case .to(.removed): return "\(take.stem): removed, none of its files had any sound"
            case .to(.unchanged): return "\(take.stem): already finished; leftover files are removed"
            // The reason already begins with the take's stem or the file's path.
            case .to(.left(let reason)): return reason
            case .failed(let failure): return "\(take.stem): failed: \(failure.description)"
            }
        }

        var json: JSONValue {
            var members: [String: JSONValue] = ["take": .string(take.stem), "day": .string(take.day)]
            switch came {
            case .to(.recovered(let sidecar)):
                members["outcome"] = .string("recovered")
                members["frames"] = .integer(Int(sidecar.frames))
                members["duration_seconds"] = .double(sidecar.durationSeconds)
                members["ended_by"] = .string(sidecar.endedBy?.rawValue ?? "unknown")
                members["shortcomings"] = .array(shortcomings.map(JSONValue.string))
            case .to(.discarded): members["outcome"] = .string("discarded")
            case .to(.removed): members["outcome"] = .string("removed")
            case .to(.unchanged): members["outcome"] = .string("unchanged")
            case .to(.left(let reason)):
                members["outcome"] = .string("left")
                members["reason"] = .string(reason)
            case .failed(let failure):
                members["outcome"] = .string("failed")
                members["reason"] = .string(failure.description)
            }
            return .object(members)
        }
    }
}

extension Failure {
    /// An error of the storage. Root acts as the directory's owner, so for root a denied access means that the owner
    /// lacks the right. Any other user may try again as root.
    fileprivate init(_ error: FileError, of command: String = "") {
        switch error.code {
        case EACCES, EPERM:
            let sentence = geteuid() == 0 ? error.description : "\(error.fact): run this as root, or as its owner"
            self.init(exitStatus: 77, command + sentence)
        default:
            self.init(
                exitStatus: error.operation == "create" || error.operation == "make folder" ? 73 : 74,
                command + error.description)
        }
    }
}
