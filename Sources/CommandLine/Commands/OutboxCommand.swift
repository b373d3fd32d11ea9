import ArgumentParser
import Control
import Takes
import Transport

/// Shows and changes the outbox.
struct OutboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "Show the takes that are being sent or waiting, and why.",
        subcommands: [
            OutboxList.self, OutboxRetry.self, OutboxPause.self, OutboxResume.self, OutboxAdd.self, OutboxRemove.self,
            OutboxHold.self,
        ],
        defaultSubcommand: OutboxList.self)

    @OptionGroup var options: GlobalOptions
}

struct OutboxList: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the state of each store and each take.")

    @OptionGroup var options: GlobalOptions
    @Option(help: ArgumentHelp("At most this many takes, 1 to 200.", valueName: "count")) var limit = LibraryMessage
        .outboxLimit

    func validate() throws {
        guard !(1...TakeQuery.mostTakes).contains(limit) else { return }
        throw ValidationError("--limit: found \(limit), allowed are 1 to \(TakeQuery.mostTakes)")
    }

    func run(in session: Session) throws(Failure) {
        try session.writeOutbox(.outbox(limit: limit))
    }
}

/// A change of the whole outbox. It prints the outbox after the change.
protocol OutboxWishCommand: FieldfareCommand {
    static var wish: OutboxWish { get }
}

extension OutboxWishCommand {
    func run(in session: Session) throws(Failure) {
        try session.writeOutbox(.outboxWish(Self.wish))
    }
}

struct OutboxRetry: OutboxWishCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Attempt all waiting and held takes now.")
    static let wish = OutboxWish.retry
    @OptionGroup var options: GlobalOptions
}

struct OutboxPause: OutboxWishCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Send no further takes until 'resume', also after a restart.")
    static let wish = OutboxWish.pause
    @OptionGroup var options: GlobalOptions
}

struct OutboxResume: OutboxWishCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Send again after a pause.")
    static let wish = OutboxWish.resume
    @OptionGroup var options: GlobalOptions
}

protocol OutboxDecisionCommand: NotesCommand {
    static var decision: OutboxDecision { get }
    var take: TakeReference { get }
}

extension OutboxDecisionCommand {
    func message() -> LibraryMessage { .outboxDecision(Self.decision, take) }
}

struct OutboxAdd: OutboxDecisionCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Send a take, or send it once more.",
        discussion: "Files that a store already has are compared, and not sent again.")
    static let decision = OutboxDecision.add
    @OptionGroup var options: GlobalOptions
    @Argument(help: "A take's stem, its number, or 'last'.") var take: TakeReference
}

struct OutboxRemove: OutboxDecisionCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Never send a take.", discussion: "Files that a store already has stay there.")
    static let decision = OutboxDecision.remove
    @OptionGroup var options: GlobalOptions
    @Argument(help: "A take's stem, its number, or 'last'.") var take: TakeReference
}

struct OutboxHold: OutboxDecisionCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold", abstract: "Do not send a take until it is added again.")
    static let decision = OutboxDecision.hold
    @OptionGroup var options: GlobalOptions
    @Argument(help: "A take's stem, its number, or 'last'.") var take: TakeReference
}

extension Session {
    fileprivate func writeOutbox(_ message: LibraryMessage) throws(Failure) {
        let library = LibraryTakes(self, try connectToLibrary())
        if options.json { return try write(json: library.ask(message)) }
        let report = try library.ask(message, for: OutboxReport.self)
        for line in OutboxText(showsUnicode: console.showsUnicode).lines(report) { try write(line: line) }
    }
}
