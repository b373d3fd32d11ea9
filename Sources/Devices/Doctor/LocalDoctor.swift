import Files
import Lines
public import Panel
import Ring
public import Settings
import SoundCard
import Takes

/// The check-up of a kit whose recorder is not running. It opens cards and lines itself, and blocks while they do.
public enum LocalDoctor {
    /// Examines everything. Takes some seconds.
    /// - Parameter problems: the problems of the settings file, one sentence each.
    public static func findings(settings: Settings, problems: [String]) -> [Finding] {
        let clock = SystemClock()
        var examination = Examination(isRecorder: false, settings: settings, problems: problems)
        examination.record(from: CaptureCard(), clock: clock)
        // `record` has noted which cards could not record.
        examination.cards = SoundCards().reports()
        examination.probeProcess()
        examination.probePanel(open: nil)
        examination.probeFolder()
        examination.measureStorage()
        examination.clock = ClockProbe().origin(newestTake: newestDay(in: settings.takes.folder), clock: clock)
        return examination.findings()
    }

    /// Lights each wired lamp, one at a time.
    /// - Parameter isLit: called while a lamp is lit; it must wait until a person has seen the lamp. `failure` is the
    ///   reason why the lamp is not lit.
    public static func lightLamps<Failure: Error>(
        _ settings: Settings, _ isLit: (Lamp, _ failure: String?) throws(Failure) -> Void
    ) throws(Failure) {
        for lamp in Lamp.allCases {
            guard let output = LampOutput(settings.panel.leds[lamp]) else { continue }
            var errors: [LineError] = []
            var lines = LampLines(opening: [output], errors: &errors)
            if let error = lines.set(0, true) { errors.append(error) }
            try isLit(lamp, errors.first.map { "\($0)" })
            _ = lines.set(0, false)
        }
    }

    /// The day of the dated take with the highest number, from the file names alone.
    private static func newestDay(in directory: String) -> String? {
        let files = FileSystem()
        let days = ((try? files.entries(directory)) ?? [])
            .filter { TakeName.isDay($0) && $0 != TakeName.unsetDay }
        let names = days.flatMap { day in
            ((try? files.entries("\(directory)/\(day)")) ?? []).filter { $0.hasSuffix(".json") }
                .compactMap { TakeName(stem: String($0.dropLast(5)), day: day) }
        }
        return names.max { $0.number < $1.number }?.day
    }
}
