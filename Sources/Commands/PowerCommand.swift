import ArgumentParser
import Settings
import TakeFiles

struct PowerCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "power",
        abstract: "Set the processor's clock, Wi-Fi and HDMI as the settings say.",
        discussion: """
            These are governor, wifi and hdmi of [power]. What they leave as it is, is not touched. A unit runs it as root before the \
            recorder starts.
            """)

    @OptionGroup var options: GlobalOptions

    func run(in session: Session) throws(Failure) {
        let power = Settings.load(from: options.settings).settings.power
        let (done, failures) = PowerSwitches(root: session.access.kernelFiles).set(as: power)
        for line in done { try session.write(line: line) }
        for failure in failures.dropLast() { session.console.complain("power: \(failure)") }
        if let failure = failures.last { throw Failure(exitStatus: 74, "power: \(failure)") }
    }
}
