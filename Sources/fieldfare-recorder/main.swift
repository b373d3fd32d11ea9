import ArgumentParser
import Deck
import Recorder
import Settings
import SoundCard
import Takes

/// The recorder service.
struct FieldfareRecorder: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fieldfare-recorder",
        abstract: "The recorder service, in the foreground. SIGTERM ends a take cleanly.",
        version: fieldfareVersion)

    @Option(help: "The settings file.")
    var settings: String?

    @Flag(
        help: """
            Run on a simulated panel: the terminal, if there is one. The machine's sound card is used when it has one, \
            otherwise a synthetic voice.
            """)
    var simulate = false

    @Flag(help: "Switch off the lamps, but show fault 4 on an LED device, and end.")
    var ledsOff = false

    func run() throws {
        SoundCards.prepareProcess()
        let (settings, problems) = Settings.load(from: settings)
        if ledsOff {
            Recorder.putOutLamps(settings)
            return
        }
        do {
            try Recorder(settings: settings, problems: problems.map(\.description), isSimulated: simulate).run()
        } catch {
            Log().write(Report(.error, "\(error)"))
            // EX_CANTCREAT: another recorder has the socket, or the system grants no threads.
            throw ExitCode(73)
        }
    }
}

FieldfareRecorder.main()
