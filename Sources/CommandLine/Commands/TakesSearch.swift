import ArgumentParser
import Takes

/// The options for searching takes.
struct TakesSearch: ParsableArguments {
    @Option(
        help: ArgumentHelp("Words, or beginnings of words, of the memo, the tags or the markers.", valueName: "words"))
    var text: String?

    @Option(help: ArgumentHelp("A tag.", valueName: "tag"))
    var tag: String?

    @Flag(help: "Only takes with a star.")
    var starred = false

    @Option(
        help: ArgumentHelp(
            "A word, or the beginning of one, of a marker's note; '' for any marker.", valueName: "word"))
    var marker: String?

    @Option(help: ArgumentHelp("Begun at this time or later: a day, or a date and time.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Begun before this time.", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("At least so long.", valueName: "seconds"))
    var longer: Double?

    @Option(help: ArgumentHelp("At most so long.", valueName: "seconds"))
    var shorter: Double?

    @Flag(help: "Only takes whose storage is in.")
    var here = false

    @Flag(help: "Only takes whose storage is out, such as a stick in a drawer.")
    var elsewhere = false

    @Option(help: ArgumentHelp("The kit that recorded them.", valueName: "name"))
    var kit: String?

    @Option(
        help: ArgumentHelp(
            "Where they stand in the outbox: waiting, held, done, not-done or none.", valueName: "state"))
    var upload: TakeQuery.Upload?

    @Flag(help: "Only takes whose sound is damaged: it is not what was recorded.")
    var damaged = false

    @Option(
        help: ArgumentHelp(
            "What they are sorted by, the least first.", valueName: "order"))
    var order: TakeQuery.Order?

    @Flag(help: "The greatest first: the newest, the longest.")
    var reverse = false

    @Option(help: ArgumentHelp("At most so many.", valueName: "count"))
    var limit: Int?

    func validate() throws {
        guard !here || !elsewhere else { throw ValidationError("--here and --elsewhere exclude each other") }
        guard limit.map({ $0 > 0 }) ?? true else { throw ValidationError("--limit: allowed is 1 or more") }
        for (name, length) in [("--longer", longer), ("--shorter", shorter)] {
            guard length.map({ $0 >= 0 && $0.isFinite }) ?? true else {
                throw ValidationError("\(name): allowed is a number of seconds, at least 0")
            }
        }
        guard tag.map({ TakeNotes.tag($0) != nil }) ?? true else {
            throw ValidationError("--tag: allowed is a text of 1 to \(TakeNotes.longestTag) bytes on one line")
        }
    }

    /// The conditions and the order, without a limit.
    func query() throws(Failure) -> TakeQuery {
        var query = TakeQuery()
        query.text = text
        query.tag = tag.flatMap(TakeNotes.tag)
        query.isStarred = starred ? true : nil
        query.marker = marker
        query.since = try since.map { text throws(Failure) in try WallTime(typedDay: text, for: "takes: --since") }
        query.until = try until.map { text throws(Failure) in try WallTime(typedDay: text, for: "takes: --until") }
        query.leastSeconds = longer
        query.mostSeconds = shorter
        query.place = here ? .here : elsewhere ? .elsewhere : nil
        query.kit = kit
        query.upload = upload
        query.isDamaged = damaged ? true : nil
        query.order = order ?? .started
        query.isDescending = reverse
        return query
    }

    /// The first given option that only the library can answer, or nil.
    var optionForLibrary: String? {
        if text != nil { return "--text" }
        if tag != nil { return "--tag" }
        if starred { return "--starred" }
        if upload != nil { return "--upload" }
        return elsewhere ? "--elsewhere" : nil
    }

    /// Whether the options exclude some takes.
    var isRestricted: Bool {
        optionForLibrary != nil || here || damaged || kit != nil || [marker, since, until].contains { $0 != nil }
            || longer != nil
            || shorter != nil
    }
}
