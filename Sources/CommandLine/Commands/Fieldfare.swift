public import ArgumentParser
import Control
import Settings
import Takes

/// The command line, `fieldfare`.
public struct Fieldfare: ParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "fieldfare",
        abstract: "Controls a Fieldfare recorder from the command line.",
        discussion: """
            TAKE is a take's stem, its number, or 'last'. Exit status: 0 done; 64 usage; 65 bad data; 66 no such \
            take; 69 the service is not running; 70 internal; 73 cannot create; 74 I/O; 75 busy or refused in this \
            state; 77 denied; 78 bad settings.
            """,
        version: fieldfareVersion,
        groupedSubcommands: [
            CommandGroup(
                name: "Recorder",
                subcommands: [
                    StatusCommand.self, WatchCommand.self, RecordCommand.self, StopCommand.self, EjectCommand.self,
                    PlayCommand.self,
                    PauseCommand.self, SkipCommand.self, MarkCommand.self, SelectCommand.self, FilterCommand.self,
                    GainCommand.self, VolumeCommand.self, PitchCommand.self, SpeedCommand.self,
                ]),
            CommandGroup(
                name: "Takes",
                subcommands: [
                    TakesCommand.self, ShowCommand.self, TitleCommand.self, MemoCommand.self, TagCommand.self,
                    StarCommand.self, DeleteCommand.self, BinCommand.self, VerifyCommand.self, OutboxCommand.self,
                    StickCommand.self, RemoteCommand.self,
                ]),
            CommandGroup(
                name: "Kit",
                subcommands: [
                    CardsCommand.self, LinesCommand.self, ClockCommand.self, CheckCommand.self, SettingsCommand.self,
                    DoctorCommand.self,
                    HistoryCommand.self, SupportCommand.self, RecoverCommand.self, LabelCommand.self,
                    NetworksCommand.self, PowerCommand.self,
                ]),
        ])

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    public init() {}

    /// Parses `arguments` (without the program's name) and runs the command.
    ///
    /// - Returns: the exit status.
    public static func run(_ arguments: [String], in session: Session) -> Int32 {
        do {
            let parsed = try parseAsRoot(readableNumbers(in: arguments))
            guard !(parsed is Fieldfare) else {
                throw Failure(exitStatus: 64, "fieldfare: a command is missing: see 'fieldfare --help'")
            }
            guard let command = parsed as? any FieldfareCommand else {
                // The parser's own help command.
                var parsed = parsed
                try parsed.run()
                return 0
            }
            var session = session
            session.options = command.options
            try command.run(in: session)
            return 0
        } catch let failure as Failure {
            return report(failure, arguments, session.console)
        } catch {
            return report(error, arguments, session.console)
        }
    }

    /// Reports a failure on the standard error: a sentence, or with --json an object on one line.
    private static func report(_ failure: Failure, _ arguments: [String], _ console: any Console) -> Int32 {
        // After a mistake in the arguments, there are no parsed options.
        let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
        console.complain(isJSON ? failure.json.description : failure.description)
        return failure.exitStatus
    }

    static var commandNames: Set<String> {
        let commands = configuration.groupedSubcommands.flatMap { $0.subcommands }
        return Set(commands.compactMap { $0.configuration.commandName })
    }

    /// Reports an error of the parser: help and completions on the output, mistakes as one sentence.
    private static func report(_ error: any Error, _ arguments: [String], _ console: any Console) -> Int32 {
        let status = exitCode(for: error).rawValue
        guard status != 0 else {
            let text = fullMessage(for: error) + "\n"
            do throws(Failure) {
                try console.write(text)
                return 0
            } catch {
                return report(error, arguments, console)
            }
        }
        let word = commandWord(in: arguments)
        let name = word.flatMap { commandNames.contains($0) ? $0 : nil }
        let command = name.map { "fieldfare \($0)" } ?? "fieldfare"
        let message: String
        if name == nil, let word, let meant = commandNames.sorted().nearest(to: word) {
            message = "\(word): no such command, perhaps '\(meant)' is meant"
        } else {
            message = self.message(for: error).split(separator: "\n").joined(separator: " ")
        }
        return report(
            Failure(exitStatus: status, "\(command): \(message): see '\(command) --help'"), arguments, console)
    }

    /// The first word that is neither an option of every command nor its value: the name of the command, right or
    /// wrong. Nil if there is none.
    static func commandWord(in arguments: [String]) -> String? {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-") else { return argument }
            if GlobalOptions.namesWithValue.contains(argument) { rest = rest.dropFirst() }
        }
        return nil
    }

    /// The parser would read '-5' as an option. After `skip`, `pitch` and `gain`, the minus of a number is replaced
    /// with a character that the parser does not know.
    static func readableNumbers(in arguments: [String]) -> [String] {
        guard arguments.contains(where: ["skip", "pitch", "gain"].contains) else { return arguments }
        return arguments.map { argument in
            let isNegative = argument.hasPrefix("-") && (try? Seconds(typed: argument)) != nil
            return isNegative ? "\u{2212}" + argument.dropFirst() : argument
        }
    }
}

/// Options that may stand before or after the command.
public struct GlobalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The recorder's control socket; that of the settings unless named.", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("The library's control socket; that of the settings unless named.", valueName: "path"))
    var librarySocket: String?

    @Option(help: ArgumentHelp("The settings file; /etc/fieldfare/fieldfare.toml unless named.", valueName: "file"))
    var settings: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// The options whose value is the next argument.
    static let namesWithValue: Set<String> = ["--socket", "--library-socket", "--settings"]

    public init() {}
}

protocol FieldfareCommand: ParsableCommand {
    var options: GlobalOptions { get }
    func run(in session: Session) throws(Failure)
}
