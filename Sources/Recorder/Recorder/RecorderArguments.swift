/// The parsed command line of `fieldfare-recorder`.
///
/// The program parses its few options itself: the parser of `fieldfare` would stay in the service's memory.
public enum RecorderArguments: Equatable, Sendable {
    /// Run with the given settings file, or the default one; on a simulated panel or the kit's own.
    case run(settings: String?, isSimulated: Bool)
    /// Switch off the lamps that a settings file names, and exit.
    case ledsOff(settings: String?)
    case version
    /// Print `usage`.
    case help

    /// An argument that the program does not accept.
    public struct Misuse: Error, Equatable, CustomStringConvertible {
        /// One sentence: the problem, and where to read the correct usage.
        public let description: String

        init(_ problem: String) {
            description = "fieldfare-recorder: \(problem): see 'fieldfare-recorder --help'"
        }
    }

    /// The text of `--help`.
    public static let usage = """
        OVERVIEW: The recorder service, in the foreground. SIGTERM ends a take cleanly.

        USAGE: fieldfare-recorder [--settings <settings>] [--simulate] [--leds-off]

        OPTIONS:
          --settings <settings>   The settings file.
          --simulate              Run on a simulated panel: the terminal, if there is one. The
                                  machine's sound card is used when it has one, otherwise a
                                  synthetic voice.
          --leds-off              Switch off the lamps, but show fault 4 on an LED device, and
                                  end.
          --version               Show the version.
          -h, --help              Show help information.
        """

    /// - Parameter words: the arguments after the program's name.
    public init(_ words: some Sequence<String>) throws(Misuse) {
        var settings: String?
        var isSimulated = false, isLEDsOff = false
        var words = words.makeIterator()
        while let word = words.next() {
            switch word {
            case "--settings":
                settings = try Self.path(words.next())
            case _ where word.hasPrefix("--settings="):
                settings = try Self.path(String(word.dropFirst("--settings=".count)))
            case "--simulate": isSimulated = true
            case "--leds-off": isLEDsOff = true
            case "--version":
                self = .version
                return
            case "--help", "-h":
                self = .help
                return
            default: throw Misuse("Unknown \(word.hasPrefix("-") ? "option" : "argument") '\(word)'")
            }
        }
        self = isLEDsOff ? .ledsOff(settings: settings) : .run(settings: settings, isSimulated: isSimulated)
    }

    private static func path(_ word: String?) throws(Misuse) -> String {
        guard let word, !word.isEmpty, !word.hasPrefix("-") else {
            throw Misuse("Missing value for '--settings <settings>'")
        }
        return word
    }
}
