import ArgumentParser
import Control
import Takes
import Transport

struct TakesCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "takes", abstract: "List the finished takes, the oldest first.",
        discussion: """
            A line has the stem, when the take began (UTC; '?' where the clock was not set), its length, what else is \
            to be known of it, and its star, tags and the beginning of its memo. A take that is being recorded is not \
            among them.

            TIME is a day such as 2026-11-21, today, yesterday or monday (its first moment in UTC), or a date and time \
            with its zone, such as 2026-11-21T06:18:11Z. DURATION is seconds, or such as 2h, 1m or 1m30s. All conditions \
            hold together.

            With --damaged, the takes whose sound is not what was recorded are listed, each with what is wrong. Nothing sends or \
            deletes them until a person accepts them. Without the library each take is read for that, which takes its time.

            The library is asked. While it is not running, and with --directory, the takes are read from their \
            folder, which knows no memos, tags and stars, and no takes that are elsewhere.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var place: TakesOptions
    @OptionGroup var search: TakesSearch
    @Option(
        help: ArgumentHelp(
            "With --damaged: accept this take as it is. It is then sent, and may be deleted once every store has it, as others are, "
                + "unless one of its files is missing.",
            valueName: "take"))
    var accept: TakeReference?

    func validate() throws {
        guard accept == nil || search.damaged else {
            throw ValidationError("--accept: is for a damaged take: add --damaged")
        }
        guard accept == nil || place.directory == nil else {
            throw ValidationError("--accept: only the library accepts a take: leave out --directory")
        }
        guard place.directory == nil || search.optionForLibrary == nil else {
            throw ValidationError("--directory: a folder knows nothing of \(search.optionForLibrary ?? "")")
        }
    }

    func run(in session: Session) throws(Failure) {
        if let accept { return try DamagedTakes(session).accept(accept) }
        let query = try search.query(now: session.clock.wallTime())
        let library = place.directory == nil ? try session.libraryIfRunning() : nil
        if let library {
            return try LibraryTakes(session, library).list(
                query, limit: search.limit, isRestricted: search.isRestricted)
        }
        if let option = search.optionForLibrary {
            throw Failure(exitStatus: 69, "takes: \(option): only the library can answer this, and it is not running")
        }
        let kit = try KitTakes(of: session, for: "takes", directory: place.directory)
        let order = search.order ?? .number
        try FolderTakes(session, kit).list(query, by: order, limit: search.limit, isRestricted: search.isRestricted)
    }
}
