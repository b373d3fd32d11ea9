import ArgumentParser
import Control
import Glibc
import Settings

struct LabelCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "label", abstract: "Print the kit's name, its address for a browser, and that as a QR code.",
        discussion: """
            For a sticker on the kit: who joins its network opens this address. The QR code is made by the program qrencode, if it is \
            installed; its text is the address.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(name: .customLong("text"), help: "Without the QR code.") var isTextOnly = false

    func run(in session: Session) throws(Failure) {
        let settings = Settings.load(from: options.settings).settings
        guard let address = Self.address(settings, hostName: KitName.hostName) else {
            throw Failure(exitStatus: 75, "label: the console is off: [console] listen of the settings opens it")
        }
        if options.json {
            try session.write(json: .object(["name": .string(settings.kitName), "address": .string(address)]))
            return
        }
        try session.write(line: settings.kitName)
        try session.write(line: address)
        guard !isTextOnly, !Self.drawCode(address) else { return }
        throw Failure(exitStatus: 69, "label: there is no QR code: install qrencode, or ask with --text")
    }

    /// Where browsers find the kit; nil: nowhere. Avahi announces the host's name.
    static func address(_ settings: Settings, hostName: String) -> String? {
        guard let listen = settings.console.listen else { return nil }
        let port = listen.port == 80 ? "" : ":\(listen.port)"
        guard ["0.0.0.0", "::"].contains(listen.host) else {
            return "http://" + (listen.host.contains(":") ? "[\(listen.host)]" : listen.host) + port
        }
        return "http://\(hostName).local\(port)"
    }

    /// Has qrencode draw on standard output.
    /// - Returns: whether it did.
    private static func drawCode(_ text: String) -> Bool {
        fflush(nil)
        // Safe: the command is a constant, and the stream is closed below.
        guard let pipe = unsafe popen("exec qrencode -t UTF8 -m 2 2>/dev/null", "w") else { return false }
        unsafe fputs(text, pipe)
        return unsafe pclose(pipe) == 0
    }
}
