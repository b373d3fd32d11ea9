import ArgumentParser
import Control
import Takes

struct TakesCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "takes", abstract: "List the finished takes, the oldest first.",
        discussion: """
            A line has the stem, when the take began (UTC; '?' where the clock was not set), its length, what else is \
            to be known of it, and its star, tags and the beginning of its memo. A take that is being recorded is not \
            among them.

            TIME is a day such as 2026-11-21 (its first moment in UTC), or a date and time with its zone, such as \
            2026-11-21T06:18:11Z. All conditions hold together.

            The library is asked. While it is not running, and with --directory, the takes are read from their \
            folder, which knows no memos, tags and stars, and no takes that are elsewhere.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var place: TakesOptions
    @OptionGroup var search: TakesSearch

    func validate() throws {
        guard place.directory == nil || search.optionForLibrary == nil else {
            throw ValidationError("--directory: a folder knows nothing of \(search.optionForLibrary ?? "")")
        }
    }

    func run(in session: Session) throws(Failure) {
        let query = try search.query()
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
