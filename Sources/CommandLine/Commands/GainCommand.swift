import ArgumentParser
import Control
import Takes
import Transport

struct GainCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "gain", abstract: "Set the capture gain until the recorder restarts.",
        discussion:
            "It is set on the open card at once, also while a take is recorded, and on each that is opened later. "
            + "Without an argument, prints the gain in force.")

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: ArgumentHelp("Decibels, such as 12, -6 or 7.5; 'keep' leaves the card as it is.", valueName: "db"))
    var gain: GainSetting?

    @Option(help: ArgumentHelp("The card's automatic gain control: 'on' or 'off'.", valueName: "on|off"))
    var agc: OnOff?

    /// On a card whose requests take seconds, setting the gain needs several of them.
    private static let timeout = Duration.seconds(120)

    func run(in session: Session) throws(Failure) {
        let (status, reply) = try session.askForStatus(message(), timeout: Self.timeout)
        if options.json {
            try session.write(json: reply)
        } else {
            try session.write(line: status.gainText ?? "no card is open: the setting applies once one is")
        }
    }

    private func message() throws(Failure) -> RecorderMessage {
        if let decibels = gain?.decibels, !GainSetting.range.contains(decibels) {
            throw Failure(
                exitStatus: 64,
                "fieldfare gain: found \(decibelText(decibels)), allowed is a number from -150 to 150, or keep")
        }
        guard gain != nil || agc != nil else { return .status }
        return .command(.gain(gain, agc: agc.map { $0 == .on }))
    }
}

extension Status {
    /// The gain in force, `12.5 dB (-20 to 20 dB), AGC off`, or nil if no card is open.
    var gainText: String? {
        guard card != nil else { return nil }
        let range = gainRangeDB.map { " (\(decibelText($0.min)) to \(decibelText($0.max)) dB)" } ?? ""
        let gain = gainDB.map { "\(decibelText($0)) dB\(range)" } ?? "the card has no capture gain"
        return gain + (agc.map { ", AGC \($0 ? "on" : "off")" } ?? "")
    }
}
