import ArgumentParser
import Control
import Takes
import Transport

/// Shows or sets the kit's clock.
struct ClockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock", abstract: "Show the kit's clock and its origin, or set it.",
        subcommands: [ClockShowCommand.self, ClockSetCommand.self], defaultSubcommand: ClockShowCommand.self)
}

struct ClockShowCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the kit's clock and its origin.")

    @OptionGroup var options: GlobalOptions

    func run(in session: Session) throws(Failure) {
        let (status, _) = try session.askForStatus(.status, timeout: .seconds(5))
        try session.write(clock: status)
    }
}

struct ClockSetCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set the kit's clock, where no network does.",
        discussion: """
            TIME contains its zone: 2026-11-21T06:18:11Z is in UTC, 2026-11-21T07:18:11+01:00 the same an hour \
            ahead of it. From a computer whose clock is right: ssh KIT fieldfare clock set $(date -u +%FT%TZ)

            It is right to a second or so. Takes of this boot get their true start in the sidecar (started_corrected); \
            the names of their files stay. A take that is being recorded continues.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The date and time, such as 2026-11-21T06:18:11Z.") var time: [String]

    /// The unit that sets the clock may take some seconds, and starting a process on a board is slow.
    private static let timeout = Duration.seconds(30)

    func run(in session: Session) throws(Failure) {
        let (status, _) = try session.askForStatus(
            .setClock(WallTime(typed: time.joined(separator: " "), for: "clock set")), timeout: Self.timeout)
        try session.write(clock: status)
    }
}

extension Session {
    /// Writes the time of this machine's clock, which the recorder shares, and the source of that time.
    fileprivate func write(clock status: Status) throws(Failure) {
        let now = clock.wallTime()
        if options.json {
            try write(json: .object(["clock": .string(status.clock.rawValue), "time": .string(now.iso8601)]))
        } else {
            try write(line: "\(now.date)T\(now.timeOfDay)Z, \(status.clock.text)")
        }
    }
}
