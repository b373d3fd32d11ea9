import Recorder
import Testing

@Suite struct RecorderArgumentsTests {
    @Test(
        arguments: [
            ([], .run(settings: nil, isSimulated: false)),
            (["--settings", "a.toml"], .run(settings: "a.toml", isSimulated: false)),
            (["--settings=a=b.toml", "--simulate"], .run(settings: "a=b.toml", isSimulated: true)),
            (["--leds-off", "--settings", "a.toml"], .ledsOff(settings: "a.toml")),
            (["--simulate", "--version"], .version),
            (["-h"], .help),
            (["--help", "--loud"], .help),
        ] as [([String], RecorderArguments)])
    func `options ask for one thing`(words: [String], asked: RecorderArguments) throws {
        #expect(try RecorderArguments(words) == asked)
    }

    @Test(arguments: [
        (["--loud"], "Unknown option '--loud'"),
        (["--simulate", "a.toml"], "Unknown argument 'a.toml'"),
        (["--settings"], "Missing value for '--settings <settings>'"),
        (["--settings", "--simulate"], "Missing value for '--settings <settings>'"),
        (["--settings="], "Missing value for '--settings <settings>'"),
    ])
    func `a word that it does not take is named`(words: [String], problem: String) {
        let error = #expect(throws: RecorderArguments.Misuse.self) { try RecorderArguments(words) }
        #expect(error?.description == "fieldfare-recorder: \(problem): see 'fieldfare-recorder --help'")
    }

    @Test func `the help names each option`() {
        for option in ["--settings", "--simulate", "--leds-off", "--version", "--help"] {
            #expect(RecorderArguments.usage.contains(option))
        }
    }
}
