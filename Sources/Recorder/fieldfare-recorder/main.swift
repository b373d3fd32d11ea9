import Deck
import Glibc
import Recorder
import Settings
import SoundCard
import Takes

/// Runs the service until it is ended. Returns the exit status.
func run(_ path: String?, isSimulated: Bool) -> Int32 {
    let (settings, problems) = Settings.load(from: path)
    settings.kit.useTimeZone()
    do {
        let sentences = problems.map(\.description) + BootPartition.problems()
        try Recorder(settings: settings, problems: sentences, isSimulated: isSimulated).run()
        return EXIT_SUCCESS
    } catch {
        Log().write(Report(.error, "\(error)"))
        // Another recorder has the socket, or the system grants no threads.
        return EX_CANTCREAT
    }
}

SoundCards.prepareProcess()
do {
    switch try RecorderArguments(CommandLine.arguments.dropFirst()) {
    case .run(let path, let isSimulated): exit(run(path, isSimulated: isSimulated))
    case .ledsOff(let path): Recorder.putOutLamps(Settings.load(from: path).settings)
    case .version: print(fieldfareVersion)
    case .help: print(RecorderArguments.usage)
    }
} catch {
    Log().write(Report(.error, "\(error)"))
    exit(EX_USAGE)
}
