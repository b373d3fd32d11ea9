import ArgumentParser
import Control
import Settings

/// The settings, for programs.
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Print the values of keys of the settings.",
        subcommands: [SettingsGet.self])

    @OptionGroup var options: GlobalOptions
}

struct SettingsGet: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the values of keys of the settings, or their defaults.",
        discussion: """
            Prints one line for each key, one line for each element of a list, and no line for a key without a value. If the \
            file has problems, they are reported, and the values in force are printed.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: ArgumentHelp("A key with its section, such as capture.rate_hz.", valueName: "key"))
    var keys: [String]

    func run(in session: Session) throws(Failure) {
        let settings = SettingsInForce.load(from: options.settings)
        var values: [(key: String, value: SettingsValue?)] = []
        for key in keys {
            do throws(SettingsInForce.NoSuchKey) {
                values.append((key, try settings.value(of: key)))
            } catch {
                throw Failure(exitStatus: 64, error.description)
            }
        }
        for problem in settings.problems { session.console.complain(problem.description) }
        guard !options.json else {
            let members = values.map { ($0.key, (try? $0.value.map { try JSONValue(encoding: $0) }) ?? .null) }
            return try session.write(json: .object(Dictionary(members) { $1 }))
        }
        for line in values.flatMap({ $0.value?.lines ?? [] }) { try session.write(line: line) }
    }
}

extension SettingsValue {
    /// The value for a shell. A list has one line for each element.
    fileprivate var lines: [String] {
        switch self {
        case .list(let values): values.flatMap(\.lines)
        // Text that would need more than one line is written in TOML.
        case .text(let text) where !text.unicodeScalars.contains { $0.properties.generalCategory == .control }: [text]
        case .text, .integer, .real, .boolean, .table: [toml]
        }
    }
}
