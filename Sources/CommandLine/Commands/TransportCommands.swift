import ArgumentParser
import Control
import Takes
import Transport

/// A command for the deck, answered with a status.
protocol TransportCommand: FieldfareCommand {
    /// The command, or nil to ask only for the status.
    func command() throws(Failure) -> Command?
    /// The message for a person after success.
    func outcome(_ status: Status) -> String
}

extension TransportCommand {
    /// A stop is answered when the take is finished on disk, which is slow on a stalling storage.
    private var timeout: Duration { .seconds(120) }

    func run(in session: Session) throws(Failure) {
        let message = try command().map { RecorderMessage.command($0) } ?? .status
        let (status, reply) = try session.askForStatus(message, timeout: timeout)
        if options.json {
            try session.write(json: reply)
        } else {
            try session.write(line: outcome(status))
        }
    }
}

struct RecordCommand: TransportCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Start a take.",
        discussion: "With --ago it begins that long ago, or with the oldest sound that the kit still has.")

    @OptionGroup var options: GlobalOptions
    @Option(
        help: ArgumentHelp("The take begins this long before now, such as 90 or 1m30s.", valueName: "duration"),
        transform: { try Seconds(typed: $0) })
    var ago: Seconds?

    func command() throws(Failure) -> Command? {
        guard let ago else { return .record }
        return .recordFrom(try ago.before("record"))
    }
    func outcome(_ status: Status) -> String { "recording \(status.take ?? "")" }
}

extension Seconds {
    /// The instant this many seconds ago.
    fileprivate func before(_ command: String) throws(Failure) -> PastTime {
        let longest = PastTime.longestAgo.inSeconds
        guard (0...longest).contains(value) else {
            throw Failure(
                exitStatus: 64,
                "fieldfare \(command): --ago: found \(value), allowed are seconds from 0 to \(Int(longest))")
        }
        return .ago(.nanoseconds(Int64((value * 1e9).rounded())))
    }
}

struct StopCommand: TransportCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "End the take, or stop playing.",
        discussion: "Returns when the take is finished on disk, and prints its stem.")

    @OptionGroup var options: GlobalOptions

    func command() -> Command? { .stop }
    func outcome(_ status: Status) -> String {
        status.take.map { "stopped \($0)" } ?? "stop: nothing is recorded or played"
    }
}

struct EjectCommand: TransportCommand {
    static let configuration = CommandConfiguration(
        commandName: "eject", abstract: "Unmount the stick that takes are kept on.",
        discussion:
            "Returns when it may be pulled. Holding stop for 1.5 s does the same while nothing is recorded or played.")

    @OptionGroup var options: GlobalOptions

    func command() -> Command? { .eject }
    func outcome(_ status: Status) -> String { "the stick may be pulled" }
}

struct PlayCommand: TransportCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Play a take, the selected one unless one is named.")

    @OptionGroup var options: GlobalOptions
    @Argument(help: "A take's stem, its number, or 'last'.") var take: TakeReference?

    func command() -> Command? { .play(take) }
    func outcome(_ status: Status) -> String { "playing \(status.take ?? "")" }
}

struct PauseCommand: TransportCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause playing; play continues it.")

    @OptionGroup var options: GlobalOptions

    func command() -> Command? { .pause }
    func outcome(_ status: Status) -> String { status.situation }
}

struct SkipCommand: TransportCommand {
    static let configuration = CommandConfiguration(
        commandName: "skip", abstract: "Move the playing position; a negative number moves it back.")

    @OptionGroup var options: GlobalOptions
    @Argument(help: "Seconds, such as 5, -5 or 0.5, or such as 1m30s.", transform: { try Seconds(typed: $0) })
    var seconds: Seconds

    func command() -> Command? { .skip(seconds: seconds.value) }
    func outcome(_ status: Status) -> String { status.situation }
}

struct MarkCommand: TransportCommand {
    static let configuration = CommandConfiguration(
        commandName: "mark", abstract: "Set a marker in the take that is recorded.",
        discussion: "It lies at the frame that is sampled now, or at the frame of --at-frame or --ago.")

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The text of the marker.") var note: String?
    @Option(help: ArgumentHelp("The frame of the take that it lies at.", valueName: "n")) var atFrame: Int64?
    @Option(
        help: ArgumentHelp("The marker lies this long before now, such as 90 or 1m30s.", valueName: "duration"),
        transform: { try Seconds(typed: $0) })
    var ago: Seconds?
    @Option(help: ArgumentHelp("The frame behind the region's last one.", valueName: "n")) var endFrame: Int64?
    @Option(help: "A label, such as a species.") var label: String?
    @Option(help: ArgumentHelp("The person or program that found it.", valueName: "who")) var by: String?
    @Option(help: "How sure that is, from 0 to 1.") var score: Double?
    @Option(help: ArgumentHelp("The lower edge in frequency.", valueName: "hz")) var lowHz: Double?
    @Option(help: ArgumentHelp("The upper edge in frequency.", valueName: "hz")) var highHz: Double?

    func command() throws(Failure) -> Command? {
        var content = Sidecar.Marker.Content(note: note)
        content.endFrame = endFrame.map { TakeFrame($0) }
        (content.label, content.by, content.score) = (label, by, score)
        (content.lowHz, content.highHz) = (lowHz, highHz)
        guard atFrame == nil || ago == nil else {
            throw Failure(
                exitStatus: 64, "fieldfare mark: --at-frame and --ago say the same in two ways: give one of them")
        }
        var request = MarkRequest(content: content)
        if let atFrame { request.place = .frame(TakeFrame(atFrame)) }
        if let ago { request.place = .past(try ago.before("mark")) }
        if let problem = request.problem { throw Failure(exitStatus: 64, "fieldfare mark: \(problem)") }
        return .mark(request)
    }
    func outcome(_ status: Status) -> String {
        "marked \(status.take ?? "") at \(Figures.time(status.elapsedSeconds))"
    }
}

struct SelectCommand: TransportCommand {
    static let configuration = CommandConfiguration(
        commandName: "select", abstract: "Select the take that play plays.")

    @OptionGroup var options: GlobalOptions
    @Argument(help: "A take's stem, its number, or 'last'.") var take: TakeReference

    func command() -> Command? { .select(take) }
    func outcome(_ status: Status) -> String { "selected \(status.selected ?? "")" }
}

struct VolumeCommand: TransportCommand {
    static let configuration = CommandConfiguration(
        commandName: "volume", abstract: "Set the playing volume until the recorder restarts.",
        discussion: "Without an argument, prints the volume in force.")

    @OptionGroup var options: GlobalOptions
    @Argument(help: "From 0 to 1.") var volume: Double?

    func command() throws(Failure) -> Command? {
        guard let volume else { return nil }
        guard (0...1).contains(volume) else {
            throw Failure(exitStatus: 64, "fieldfare volume: found \(volume), allowed is a number from 0 to 1")
        }
        return .volume(volume)
    }
    func outcome(_ status: Status) -> String {
        guard let volume = self.volume ?? status.volume else {
            return "volume: unknown: the recorder is of version \(status.version), which does not report it"
        }
        return "volume \(volume)"
    }
}

struct PitchCommand: TransportCommand {
    static let configuration = CommandConfiguration(
        commandName: "pitch", abstract: "Set the pitch that takes are played at, until the recorder restarts.",
        discussion: """
            Usual are \(Tuning.pitchPresets.map(String.init).joined(separator: ", ")): an octave is 1200. Without an \
            argument, prints the pitch and the speed in force.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "Hundredths of a semitone, from -2400 to 2400; 0 is as recorded.") var cents: Cents?

    func command() throws(Failure) -> Command? {
        guard let cents else { return nil }
        guard Tuning.pitchRange.contains(cents.value) else {
            let allowed = "a whole number from \(Tuning.pitchRange.lowerBound) to \(Tuning.pitchRange.upperBound)"
            throw Failure(exitStatus: 64, "fieldfare pitch: found \(cents.value), allowed is \(allowed)")
        }
        return .pitch(cents: cents.value)
    }
    func outcome(_ status: Status) -> String { status.tuningText }
}

struct SpeedCommand: TransportCommand {
    static let configuration = CommandConfiguration(
        commandName: "speed", abstract: "Set the speed that takes are played at, until the recorder restarts.",
        discussion: """
            The pitch is kept unless --expand is given. Without an argument, prints the pitch and the speed in force.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "From 0.05 to 2; 1: as recorded.") var factor: Double?
    @Flag(help: "Let the pitch follow the speed (time expansion, as for bats).") var expand = false

    func validate() throws {
        guard factor != nil || !expand else { throw ValidationError("--expand: is for a new speed: add the factor") }
    }

    func command() throws(Failure) -> Command? {
        guard let factor else { return nil }
        guard Tuning.speedRange.contains(factor) else {
            throw Failure(exitStatus: 64, "fieldfare speed: found \(factor), allowed is a number from 0.05 to 2")
        }
        return .speed(factor: factor, expands: expand)
    }
    func outcome(_ status: Status) -> String { status.tuningText }
}

struct FilterCommand: TransportCommand {
    static let configuration = CommandConfiguration(
        commandName: "filter", abstract: "Change the capture filter until the recorder restarts.",
        discussion: "Other values stay as they are; without an option, prints the filter in force.")

    @OptionGroup var options: GlobalOptions

    @Option(help: ArgumentHelp("The low-pass: a cutoff, 'auto' (0.45 of the rate) or 'off'.", valueName: "hz"))
    var lowPass: Cutoff?

    @Option(help: ArgumentHelp("12, 24, 36 or 48 dB an octave.", valueName: "db"))
    var slope: Int?

    @Option(help: ArgumentHelp("The high-pass: a cutoff, or 'off'.", valueName: "hz"))
    var highPass: Cutoff?

    func command() throws(Failure) -> Command? {
        if let slope, !FilterRequest.slopes.contains(slope) {
            throw Failure(exitStatus: 64, "fieldfare filter: --slope: found \(slope), allowed is 12, 24, 36 or 48")
        }
        guard highPass != .automatic else {
            throw Failure(
                exitStatus: 64, "fieldfare filter: --high-pass: found auto, allowed is a frequency in Hz, or off")
        }
        return .filter(lowPass: lowPass, slopeDBPerOctave: slope, highPass: highPass)
    }
    func outcome(_ status: Status) -> String { status.filterText }
}
