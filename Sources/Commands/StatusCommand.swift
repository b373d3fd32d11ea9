import ArgumentParser
import Control

struct StatusCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what the recorder is doing.")

    @OptionGroup var options: GlobalOptions

    func run(in session: Session) throws(Failure) {
        let (status, reply) = try session.askForStatus(.status, timeout: .seconds(5))
        guard !options.json else { return try session.write(json: reply) }
        for line in StatusText(status).lines { try session.write(line: line) }
    }
}
