import ArgumentParser
import Control
import Files
import Glibc
import TakeFiles
import Takes
import Transport

/// The finished takes of the kit. The command line reads their folder directly.
struct KitTakes {
    let folder: TakesFolder
    /// By number.
    let takes: [TakeName]

    /// Reads the names of the takes.
    /// - Parameters:
    ///   - command: the beginning of the messages.
    ///   - directory: the folder, or nil for the recorder's folder, or the one of the settings while the recorder is
    ///     not running.
    init(of session: Session, for command: String, directory: String?) throws(Failure) {
        session.access.useIdlePriority()
        folder = TakesFolder(path: try Self.place(session, command, directory))
        do throws(FileError) {
            let (takes, unreadable) = try folder.takes()
            self.takes = takes
            for error in unreadable { session.console.complain("\(command): passed over: \(error.fact)") }
        } catch {
            throw Failure(reading: error, command)
        }
    }

    private static func place(_ session: Session, _ command: String, _ directory: String?) throws(Failure) -> String {
        if let directory {
            var path = directory
            while path.count > 1, path.hasSuffix("/") { path.removeLast() }
            return path
        }
        do throws(Failure) {
            let (status, _) = try session.askForStatus(.status, timeout: .seconds(5))
            guard let path = status.directory else {
                throw Failure(exitStatus: 74, "\(command): the folder for takes is not there: see 'fieldfare status'")
            }
            return path
        } catch {
            guard error.exitStatus == 69 else { throw error }
            return try session.access.places(session.options.settings).takes
        }
    }

    /// Finds the take that a person named.
    /// - Throws: exit status 66 if no take matches, 65 if several match.
    func find(_ reference: TakeReference, for command: String) throws(Failure) -> TakeName {
        guard reference != .last else {
            guard let last = takes.last else {
                throw Failure(exitStatus: 66, "\(command): no take yet in \(folder.path)")
            }
            return last
        }
        let found = takes.filter(reference.names)
        guard let take = found.first else {
            throw Failure(exitStatus: 66, "\(command): \(reference): no such take in \(folder.path)")
        }
        guard found.count == 1 else {
            let places = found.prefix(5).map { "\($0.day)/\($0.stem)" }.joined(separator: ", ")
            throw Failure(
                exitStatus: 65, "\(command): \(reference): there are \(found.count): \(places): name one by its stem")
        }
        return take
    }
}

extension Failure {
    /// A folder or a sidecar that cannot be read.
    init(reading error: any Error, _ command: String) {
        switch error {
        case let error as FileError:
            switch error.code {
            case ENOENT, ENOTDIR: self.init(exitStatus: 66, "\(command): \(error.path): it is not there")
            case EACCES, EPERM:
                self.init(exitStatus: 77, "\(command): \(error.fact): is this user in the group 'fieldfare'?")
            default: self.init(exitStatus: 74, "\(command): \(error)")
            }
        default: self.init(exitStatus: 65, "\(command): \(error)")
        }
    }

    /// Whether a file exists but could not be read, so that nothing is known about it.
    var isOfReading: Bool { exitStatus == 74 || exitStatus == 77 }
}

/// The folder of takes, if it is not the recorder's.
struct TakesOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The directory of takes; the recorder's, or that of the settings, unless named.", valueName: "dir"))
    var directory: String?
}
