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
        let (settings, problems) = Settings.load(from: options.settings)
        let (done, failures) = PowerSwitches(root: session.access.kernelFiles).set(as: settings.power)
        for line in done { try session.write(line: line) }
        // The recorder reports problems with other keys.
        let own = problems.filter { $0.key?.hasPrefix("power") ?? true }
        for problem in own { session.console.complain("power: \(problem)") }
        if failures.isEmpty, !own.isEmpty {
            throw Failure(exitStatus: 78, "power: devices that the settings do not name are left as they are")
        }
        for failure in failures.dropLast() { session.console.complain("power: \(failure)") }
        if let failure = failures.last { throw Failure(exitStatus: 74, "power: \(failure)") }
    }
}
