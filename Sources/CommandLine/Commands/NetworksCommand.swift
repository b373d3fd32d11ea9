import ArgumentParser
import Control
import Files
import Settings

struct NetworksCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "networks",
        abstract: "Check a list of Wi-Fi networks, and write it as profiles of NetworkManager.",
        discussion: """
            The list is the file wifi.toml on the boot partition of a kit's card. Each network is a table, such as [home], with \
            name = "…" (left out: the table's own name), password = "…" (left out: an open network) and hidden = true (left out: it \
            announces its name). Above them may stand country = "DE": two letters, by which the kit uses the channels and the power that \
            are allowed there. Passwords are never printed.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The list, such as wifi.toml.") var file: String
    @Option(
        help: ArgumentHelp(
            "Write a profile for each network into this folder, as kit-N-NAME.nmconnection, and the country as country.",
            valueName: "path"))
    var into: String?

    func run(in session: Session) throws(Failure) {
        let bytes = try Self.doing { () throws(FileError) in try Self.files.contents(file, limit: Self.longest) }
        let (list, problems) = WirelessList.parse(bytes, file: file)
        if options.json {
            try session.write(
                json: .object([
                    "networks": .array(list.networks.map { .string($0.name) }),
                    "country": list.country.map { .string($0) } ?? .null,
                    "problems": .array(problems.map { .string($0.description) }),
                ]))
        } else {
            for problem in problems { try session.write(line: problem.description) }
            for network in list.networks { try session.write(line: "\(network.name.printable): nothing is wrong") }
        }
        guard problems.isEmpty else {
            throw Failure(exitStatus: 78, "networks: \(file): correct it first: no profile was written")
        }
        guard let into else { return }
        for (index, network) in list.networks.enumerated() {
            try write(network.profile, to: "\(into)/\(network.profileName(index))")
        }
        if let country = list.country { try write("\(country)\n", to: "\(into)/country") }
    }

    /// The file gets its name only when it is complete and on the disk.
    private func write(_ text: String, to path: String) throws(Failure) {
        let files = Self.files
        try Self.doing { () throws(FileError) in
            let output = try files.create("\(path).new", isNew: false, mode: 0o600)
            try files.truncate(output, to: 0)
            try files.write(Array(text.utf8), to: output, at: 0)
            try files.sync(output)
            try files.rename("\(path).new", to: path)
        }
    }

    private static let files = FileSystem()

    /// Larger than any list of networks.
    private static let longest = 1 << 16

    private static func doing<Result>(_ work: () throws(FileError) -> Result) throws(Failure) -> Result {
        do throws(FileError) { return try work() } catch { throw Failure(exitStatus: 74, "networks: \(error.fact)") }
    }
}
