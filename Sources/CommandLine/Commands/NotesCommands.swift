import ArgumentParser
import Control
import Takes
import Transport

/// A command that changes the library's notes on a take, and prints the take after the change.
protocol NotesCommand: FieldfareCommand {
    func message() throws(Failure) -> LibraryMessage
}

extension NotesCommand {
    func change(in session: Session) throws(Failure) {
        let library = LibraryTakes(session, try session.connectToLibrary())
        if options.json { return try session.write(json: library.ask(message())) }
        let take = try library.ask(message(), for: LibraryTakes.Changed.self).take
        try session.write(line: TakeLine(take, showsUnicode: session.console.showsUnicode).text(stemWidth: 0))
    }

    func run(in session: Session) throws(Failure) {
        try change(in: session)
    }
}

struct MemoCommand: NotesCommand {
    static let configuration = CommandConfiguration(
        commandName: "memo", abstract: "Print the memo of a take, or write it.",
        discussion: "The library keeps it, also while the take's storage is out.")

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Remove it.") var clear = false
    @Argument(help: "A take's stem, its number, or 'last'.") var take: TakeReference
    @Argument(help: "The memo of the take. It replaces the previous one.") var text: String?

    func validate() throws {
        guard !clear || text == nil else { throw ValidationError("--clear and a text exclude each other") }
        guard let text, text.utf8.count > TakeNotes.longestMemo else { return }
        throw ValidationError(
            "the text has \(text.utf8.count) bytes, allowed are at most \(TakeNotes.longestMemo)")
    }

    func message() -> LibraryMessage { .change(take, .memo(text)) }

    func run(in session: Session) throws(Failure) {
        guard !clear, text == nil else { return try change(in: session) }
        let library = LibraryTakes(session, try session.connectToLibrary())
        let shown = try library.ask(.show(take), for: LibraryTakes.Shown.self)
        if options.json {
            let memo = shown.notes.memo.map { JSONValue.string($0) } ?? .null
            return try session.write(json: .object(["take": .string(shown.take.take), "memo": memo]))
        }
        guard let memo = shown.notes.memo else { return try session.write(line: "\(shown.take.take): no memo") }
        for line in memo.split(separator: "\n", omittingEmptySubsequences: false) {
            try session.write(line: String(line).printable)
        }
    }
}

struct TitleCommand: NotesCommand {
    static let configuration = CommandConfiguration(
        commandName: "title", abstract: "Print the title of a take, or write it.",
        discussion: "If the title is the first line of the memo, that line moves from the memo to the title.")

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Remove it.") var clear = false
    @Argument(help: "A take's stem, its number, or 'last'.") var take: TakeReference
    @Argument(help: "The title of the take, on one line. It replaces the previous one.") var text: String?

    func validate() throws {
        guard !clear || text == nil else { throw ValidationError("--clear and a text exclude each other") }
        guard let text, TakeNotes.title(text) == nil else { return }
        throw ValidationError("a title has 1 to \(TakeNotes.longestTitle) characters on one line")
    }

    func message() -> LibraryMessage { .change(take, .title(text.flatMap(TakeNotes.title))) }

    func run(in session: Session) throws(Failure) {
        guard !clear, text == nil else { return try change(in: session) }
        let library = LibraryTakes(session, try session.connectToLibrary())
        let shown = try library.ask(.show(take), for: LibraryTakes.Shown.self)
        if options.json {
            let title = shown.notes.title.map { JSONValue.string($0) } ?? .null
            return try session.write(json: .object(["take": .string(shown.take.take), "title": title]))
        }
        try session.write(line: shown.notes.title?.printable ?? "\(shown.take.take): no title")
    }
}

struct TagCommand: NotesCommand {
    static let configuration = CommandConfiguration(
        commandName: "tag", abstract: "Add tags to a take, or remove some.")

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Remove these tags.") var remove = false
    @Argument(help: "A take's stem, its number, or 'last'.") var take: TakeReference
    @Argument(help: ArgumentHelp("A tag, such as 'interview'.", valueName: "tag")) var tags: [String]

    func validate() throws {
        guard tags.count <= TakeNotes.mostTags else {
            throw ValidationError("there are \(tags.count) tags, allowed are at most \(TakeNotes.mostTags)")
        }
        for tag in tags where TakeNotes.tag(tag) == nil {
            throw ValidationError("a tag has 1 to \(TakeNotes.longestTag) bytes on one line")
        }
    }

    func message() -> LibraryMessage {
        let tags = tags.compactMap(TakeNotes.tag)
        return .change(take, .tags(adding: remove ? [] : tags, removing: remove ? tags : []))
    }
}

struct StarCommand: NotesCommand {
    static let configuration = CommandConfiguration(
        commandName: "star", abstract: "Mark a take as worth keeping.")

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Remove the star.") var off = false
    @Argument(help: "A take's stem, its number, or 'last'.") var take: TakeReference

    func message() -> LibraryMessage { .change(take, .starred(!off)) }
}
