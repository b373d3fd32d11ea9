import ArgumentParser
import Control
import Files
import Glibc
import Settings
import Takes

struct LabelCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "label",
        abstract:
            "Print the kit's name, its address for a browser, the code that pairs phones, the fingerprint of its certificate, and the address as a QR code.",
        discussion: """
            For a sticker on the kit: to pair a phone, join its network, open this address, hold play for 3 s and type the code; \
            --new-code makes another one. A browser warns of https, since nobody has signed the kit's certificate: it is the kit's if it has this fingerprint. Where no network is known, back and forward held for 3 s \
            open the kit's own Wi-Fi: its password is printed too, and --wifi prints the QR code by which a phone joins it. The codes are \
            made by the program qrencode, if it is installed.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(name: .customLong("text"), help: "Without the QR code.") var isTextOnly = false
    @Flag(name: .customLong("wifi"), help: "The QR code of the kit's own Wi-Fi instead.") var isForWiFi = false

    @Flag(name: .customLong("new-code"), help: "Make another code. The former one no longer pairs phones.")
    var makesNewCode = false

    func run(in session: Session) throws(Failure) {
        let settings = Settings.load(from: options.settings).settings
        guard let address = settings.console.address(hostName: KitName.hostName) else {
            throw Failure(exitStatus: 75, "label: the console is off: [console] listen of the settings opens it")
        }
        let kept = try? FileSystem().contents(AccessPoint.passwordFile, limit: 4096)
        let wifi = kept.flatMap { AccessPoint(hostName: KitName.hostName, passwordFile: $0) }
        let isThere = unsafe access(AccessPoint.passwordFile, F_OK) == 0
        if wifi == nil, isForWiFi || isThere {
            let sentence = AccessPoint.problem(isThere: isThere)
            guard !isForWiFi else { throw Failure(exitStatus: 66, sentence) }
            session.console.complain(sentence)
        }
        let (code, fingerprint) = try secrets(settings, session)
        if options.json {
            var label: [String: JSONValue] = ["name": .string(settings.kitName), "address": .string(address)]
            label["code"] = code.map { .string($0.digits) }
            label["fingerprint"] = fingerprint.map { .string($0.description) }
            if let wifi { label["wifi"] = .object(["name": .string(wifi.name), "password": .string(wifi.password)]) }
            return try session.write(json: .object(label))
        }
        try session.write(line: settings.kitName)
        try session.write(line: address)
        if let code { try session.write(line: "play held for 3 s: the code \(code.digits) pairs a phone") }
        if let fingerprint {
            let host = settings.console.host(hostName: KitName.hostName)
            try session.write(line: "https://\(host): the SHA-256 fingerprint of its certificate is \(fingerprint)")
        }
        if let wifi {
            try session.write(line: "back and forward held for 3 s: Wi-Fi \(wifi.name)")
            try session.write(line: "its password: \(wifi.password)")
            try session.write(line: "then \(AccessPoint.address(port: settings.console.listen?.port))")
        }
        guard !isTextOnly else { return }
        var drawn = address
        if isForWiFi, let wifi { drawn = wifi.code }
        guard !Self.drawCode(drawn) else { return }
        throw Failure(exitStatus: 69, "label: the QR code cannot be drawn: install qrencode, or use --text")
    }

    /// The pairing code and the fingerprint of the console's certificate, from the library, or from its files while it
    /// is not running.
    /// - Returns: nil for a value that is unknown here.
    private func secrets(
        _ settings: Settings, _ session: Session
    ) throws(Failure) -> (PairingCode?, CertificateFingerprint?) {
        guard let client = try makesNewCode ? session.connectToLibrary() : session.libraryIfRunning() else {
            let kept = { (name: String) in
                try? FileSystem().contents("\(settings.library.directory)/\(name)", limit: 100)
            }
            let code = kept(PairingCode.fileName).flatMap { PairingCode(file: $0) }
            if code == nil {
                session.console.complain("label: the code that pairs phones is not known: start fieldfare-library")
            }
            return (code, kept(CertificateFingerprint.fileName).flatMap { CertificateFingerprint(file: $0) })
        }
        do {
            let reply = try client.ask(.pairingCode(isNew: makesNewCode))
            return (
                reply["code"]?.text.flatMap { PairingCode($0) },
                reply["fingerprint"]?.text.flatMap { CertificateFingerprint($0) }
            )
        } catch {
            throw Failure(error)
        }
    }

    /// Lets qrencode draw on standard output.
    /// - Returns: whether it succeeded.
    private static func drawCode(_ text: String) -> Bool {
        fflush(nil)
        // Safe: the command is a constant, and the stream is closed below.
        guard let pipe = unsafe popen("exec qrencode -t UTF8 -m 2 2>/dev/null", "w") else { return false }
        unsafe fputs(text, pipe)
        return unsafe pclose(pipe) == 0
    }
}

extension AccessPoint {
    /// Why the password is unknown.
    static func problem(isThere: Bool) -> String {
        isThere
            ? "label: \(passwordFile): the password of the kit's own Wi-Fi cannot be read: try with sudo"
            : "label: \(passwordFile), the password of the kit's own Wi-Fi, is missing: 'sudo systemctl start fieldfare-access-point' makes it"
    }
}
