/// What the command line of `fieldfare-recorder` asks for.
///
/// The program reads its few options itself: the parser of `fieldfare` would stay in the memory of the service.
public enum RecorderArguments: Equatable, Sendable {
    /// To run with a settings file, or the default one; on a simulated panel or on the kit's.
    case run(settings: String?, isSimulated: Bool)
    /// To switch off the lamps that a settings file names, and to end.
    case ledsOff(settings: String?)
    /// To print the version.
    case version
    /// To print `usage`.
    case help

    /// A word that the program does not take: one sentence.
    public struct Misuse: Error, Equatable, CustomStringConvertible {
        /// One sentence: what is wrong, and where to read what is right.
        public let description: String

        init(_ problem: String) {
            description = "fieldfare-recorder: \(problem): see 'fieldfare-recorder --help'"
        }
    }

    /// What `--help` prints.
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

    /// Reads the words after the program's name.
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

    /// The settings file that a word names.
    private static func path(_ word: String?) throws(Misuse) -> String {
        guard let word, !word.isEmpty, !word.hasPrefix("-") else {
            throw Misuse("Missing value for '--settings <settings>'")
        }
        return word
    }
}
