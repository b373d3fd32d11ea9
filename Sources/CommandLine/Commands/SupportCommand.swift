import ArgumentParser
import Control
import Programs
import Settings
import Takes

struct SupportCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "support",
        abstract: "Pack the information that a distant helper needs about the kit into one file.",
        discussion: """
            The file has what doctor, status, history, takes and outbox print, the logs of the services and of the kernel, the \
            settings that are understood, without comments, and what the machine is made of: no sound, and no password. What cannot be had is named in its about.txt. \
            It is made as root, so that nothing is withheld from it; no service needs to run.
            """)

    @OptionGroup var options: GlobalOptions
    @Option(help: ArgumentHelp("The folder that the file is made in; the present one unless named.", valueName: "path"))
    var into = "."

    func validate() throws {
        guard !into.isEmpty else { throw ValidationError("--into: a folder is missing") }
    }

    func run(in session: Session) throws(Failure) {
        let settings = Settings.load(from: options.settings).settings
        let time = session.clock.wallTime()
        let stamp = time.date + "-" + time.timeOfDay.split(separator: ":").joined()
        let path = "\(into)/fieldfare-support-\(settings.kitName)-\(stamp).tar.gz"
        let parts = SupportBundle.parts(
            program: OwnProgram.path ?? OwnProgram.sibling("fieldfare"), options: passedOn,
            settings: options.settings ?? Settings.defaultPath, history: session.access.history)
        session.access.leaveDisk()
        let about = "Fieldfare \(fieldfareVersion) of \(settings.kitName), \(time.iso8601) by its own clock.\n"
        let missing = try SupportBundle().pack(parts, about: about, to: path)
        if options.json {
            let sentences = missing.map { JSONValue.string($0) }
            return try session.write(json: .object(["file": .string(path), "missing": .array(sentences)]))
        }
        if !missing.isEmpty {
            let count = "\(missing.count) of \(parts.count)"
            session.console.complain("support: \(count) parts cannot be had: about.txt in it names them")
        }
        try session.write(line: path)
    }

    /// The path options of this command, for each command that is run.
    private var passedOn: [String] {
        [("--socket", options.socket), ("--library-socket", options.librarySocket), ("--settings", options.settings)]
            .flatMap { name, value in value.map { [name, $0] } ?? [] }
    }
}
