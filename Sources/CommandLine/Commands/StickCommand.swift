import ArgumentParser
import Control

/// The sticks that takes are sent to.
struct StickCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stick", abstract: "The stick that takes are sent to.", subcommands: [StickAdopt.self])

    @OptionGroup var options: GlobalOptions
}

struct StickAdopt: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt", abstract: "Adopt the stick that is in: from now on, takes are sent to it.",
        discussion: """
            It needs a folder named fieldfare, in which the kit writes its mark. A stick that was not adopted gets nothing: the upload \
            lamp offers it by three quick flashes each 5 seconds. Stop and play, held together for 3 seconds, adopt it too.
            """)

    @OptionGroup var options: GlobalOptions

    func run(in session: Session) throws(Failure) {
        let library = LibraryTakes(session, try session.connectToLibrary())
        let reply = try library.ask(.adoptStick)
        if options.json { return try session.write(json: reply) }
        let mark = reply["stick"]?.text.map { String($0.prefix(8)) } ?? ""
        try session.write(line: "stick \(mark.printable): takes are sent to it from now on")
    }
}
