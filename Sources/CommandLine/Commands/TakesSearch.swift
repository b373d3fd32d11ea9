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

    @Option(help: ArgumentHelp("The shortest length.", valueName: "duration"), transform: { try Seconds(typed: $0) })
    var longer: Seconds?

    @Option(help: ArgumentHelp("The greatest length.", valueName: "duration"), transform: { try Seconds(typed: $0) })
    var shorter: Seconds?

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
            "The order, the lowest first.", valueName: "order"))
    var order: TakeQuery.Order?

    @Flag(help: "The greatest first: the newest, the longest.")
    var reverse = false

    @Option(help: ArgumentHelp("At most this many takes.", valueName: "count"))
    var limit: Int?

    func validate() throws {
        guard !here || !elsewhere else { throw ValidationError("--here and --elsewhere exclude each other") }
        guard limit.map({ $0 > 0 }) ?? true else { throw ValidationError("--limit: allowed is 1 or more") }
        for (name, length) in [("--longer", longer), ("--shorter", shorter)] {
            if let length, length.value < 0 {
                throw ValidationError("\(name): found \(length.value) seconds, allowed is 0 or more")
            }
        }
        guard tag.map({ TakeNotes.tag($0) != nil }) ?? true else {
            throw ValidationError("--tag: allowed is a text of 1 to \(TakeNotes.longestTag) bytes on one line")
        }
    }

    /// The conditions and the order, without a limit.
    /// - Parameter now: decides which days 'today' and 'yesterday' mean.
    func query(now: WallTime) throws(Failure) -> TakeQuery {
        var query = TakeQuery()
        query.text = text
        query.tag = tag.flatMap(TakeNotes.tag)
        query.isStarred = starred ? true : nil
        query.marker = marker
        query.since = try since.map { text throws(Failure) in
            try WallTime(typedDay: text, for: "takes: --since", now: now)
        }
        query.until = try until.map { text throws(Failure) in
            try WallTime(typedDay: text, for: "takes: --until", now: now)
        }
        query.leastSeconds = longer?.value
        query.mostSeconds = shorter?.value
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
