import ArgumentParser
import Control

struct StatusCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say what the recorder is doing.")

    @OptionGroup var options: GlobalOptions

    func run(in session: Session) throws(Failure) {
        let (status, reply) = try session.askForStatus(.status, timeout: .seconds(5))
        guard !options.json else { return try session.write(json: reply) }
        // Without readable settings the reserve is the usual one: status is asked to find out what is wrong.
        let reserve = ((try? session.access.places(options.settings)) ?? LocalAccess.Places()).reserveBytes
        for line in StatusText(status, reserveBytes: reserve).lines { try session.write(line: line) }
    }
}
