import ArgumentParser
import Control
import Glibc
import TakeFiles
import Takes
import Transport

struct ShowCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what is known of a take.",
        discussion:
            "Reads the take's sidecar from its folder. With --json the sidecar itself, and its folder as 'folder'.")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var place: TakesOptions
    @Argument(help: "A take's stem, its number, or 'last'.") var take: TakeReference

    func run(in session: Session) throws(Failure) {
        let kit = try KitTakes(of: session, for: "show", directory: place.directory)
        let take = try kit.find(self.take, for: "show")
        let folder = kit.folder.folder(of: take)
        let sidecar: Sidecar
        var members: JSONValue = .null
        do {
            sidecar = try kit.folder.sidecar(of: take)
            // A newer recorder may have written more than this command knows.
            if options.json { members = try JSONValue(decoding: kit.folder.sidecarBytes(of: take)) }
        } catch {
            throw Failure(reading: error, "show")
        }
        if case .object(var members) = members {
            members["folder"] = .string(folder)
            return try session.write(line: JSONValue.object(members).description)
        }
        let lines = TakeText(sidecar).lines(folder: folder) { file in Self.size("\(folder)/\(file)") }
        for line in lines { try session.write(line: line) }
    }

    /// How many bytes a file has; nil: it is not there.
    private static func size(_ path: String) -> Int64? {
        var found = stat()
        guard unsafe stat(path, &found) == 0 else { return nil }
        return Int64(found.st_size)
    }
}
