import ArgumentParser

struct WatchCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show state and levels as they change, until q or Ctrl-C.",
        discussion: "Level meters in a terminal; otherwise a line a second, or with --json a line an event.")

    @Flag(help: "With --json: also the live waveform, ten times a second.")
    var peaks = false
    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !peaks || options.json else { throw ValidationError("watch: --peaks is for scripts: add --json") }
    }

    func run(in session: Session) throws(Failure) {
        let watch = try Watch(session, peaks: peaks)
        try watch.run()
    }
}
