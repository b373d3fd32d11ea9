import ArgumentParser
import Control
import Settings
import Takes
import Transport

struct CardsCommand: InventoryCommand {
    static let configuration = CommandConfiguration(
        commandName: "cards", abstract: "List the sound cards with the formats, channels and rates of each.")
    static let inventory = Inventory.cards

    @OptionGroup var options: GlobalOptions
}

struct LinesCommand: InventoryCommand {
    static let configuration = CommandConfiguration(
        commandName: "lines", abstract: "List the button and LED lines.")
    static let inventory = Inventory.lines

    @OptionGroup var options: GlobalOptions
}

/// A command that lists parts of the kit. The recorder makes the list, or this process while the recorder is not
/// running.
protocol InventoryCommand: FieldfareCommand {
    static var inventory: Inventory { get }
}

extension InventoryCommand {
    func run(in session: Session) throws(Failure) {
        let items = try list(session)
        if options.json {
            return try session.write(json: .object([Self.inventory.rawValue: .array(items)]))
        }
        for line in Listing.lines(Self.inventory, items) { try session.write(line: line) }
    }

    private func list(_ session: Session) throws(Failure) -> [JSONValue] {
        let client: ControlClient
        do {
            client = try session.connect()
        } catch {
            guard error.exitStatus == 69 else { throw error }
            return try session.access.list(Self.inventory, options.settings)
        }
        let reply: JSONValue
        do {
            reply = try client.ask(.inventory(Self.inventory), timeout: .seconds(30))
        } catch {
            throw Failure(error)
        }
        guard case .array(let items)? = reply[Self.inventory.rawValue] else {
            throw Failure(exitStatus: 70, "\(Self.inventory.rawValue): the recorder sent no list")
        }
        return items
    }
}

struct CheckCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a settings file, and print all its problems.")

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The settings file; the usual one unless named.") var file: String?

    func run(in session: Session) throws(Failure) {
        let problems = try session.access.problems(file ?? options.settings)
        if options.json {
            try session.write(json: .object(["problems": .array(problems.map { .string($0) })]))
        } else {
            for problem in problems { try session.write(line: problem) }
        }
        guard problems.isEmpty else {
            let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
            throw Failure(exitStatus: 78, "check: \(count) in the settings")
        }
        guard !options.json else { return }
        let settings = file ?? options.settings
        let warnings = [
            session.access.kitNameWarning(settings),
            session.access.preRollShortage(settings, openFormat(in: session)),
        ].compactMap(\.self)
        for warning in warnings { try session.write(line: warning) }
        let path = settings ?? Settings.defaultPath
        try session.write(
            line: session.access.isThere(path)
                ? "\(path): nothing \(warnings.isEmpty ? "" : "else ")is wrong"
                : "\(path) does not exist: the defaults are in force")
    }

    /// The format of the recorder's card, or nil if the recorder has no card or is not running.
    private func openFormat(in session: Session) -> StreamFormat? {
        guard let (status, _) = try? session.askForStatus(.status, timeout: .seconds(5)), let rateHz = status.rateHz,
            let channels = status.channels,
            let format = status.format
        else { return nil }
        return StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: format)
    }
}
