import ArgumentParser

struct WatchCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show state and levels as they change, until Ctrl-C.",
        discussion: "Level meters in a terminal; otherwise a line a second, or with --json a line an event.")

    @OptionGroup var options: GlobalOptions

    func run(in session: Session) throws(Failure) {
        let watch = try Watch(session)
        try watch.run()
    }
}
