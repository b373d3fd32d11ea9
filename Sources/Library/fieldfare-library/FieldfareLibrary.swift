import ArgumentParser
import CLinux
import Console
import Glibc
import Library
import Settings
import Takes
import Upload
import WebStores

@main
struct FieldfareLibrary: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fieldfare-library",
        abstract: "The library service, in the foreground: catalogs the takes of a kit. SIGTERM ends it.",
        version: fieldfareVersion)

    @Option(help: ArgumentHelp("The settings file; /etc/fieldfare/fieldfare.toml unless named.", valueName: "file"))
    var settings: String?

    @Flag(help: "Build the catalog again from the files, and end. The service must not run.")
    var rebuild = false

    @Option(
        help: ArgumentHelp(
            "Serve the console by TLS at this address, too, such as 0.0.0.0:8443, where the service manager opens no socket for that.",
            valueName: "address"),
        transform: { text in
            guard let address = ListenAddress(text) else {
                throw ValidationError("allowed is an address with a port, such as 0.0.0.0:8443")
            }
            return address
        })
    var tls: ListenAddress?

    @Option(
        help: ArgumentHelp(
            "Show the kit's history from this folder; /var/lib/fieldfare/history unless named.", valueName: "folder"))
    var history: String?

    @Option(
        help: ArgumentHelp(
            "Make the console's certificate in this folder, unless it has one for the kit's names, print its fingerprint, and end.",
            valueName: "folder"))
    var certificate: String?

    func run() async throws {
        // One heap for all threads, so that memory freed by one thread serves the others.
        mallopt(M_ARENA_MAX, 1)
        // Longer blocks return to the system at once. Otherwise glibc raises this threshold with the size of freed
        // blocks, and keeps more memory.
        mallopt(M_MMAP_THRESHOLD, 128 << 10)
        let reader = try DiskReader(name: "reader")
        let (settings, problems) = try await reader.perform { [path = settings] _ in
            let (settings, problems) = Settings.load(from: path)
            settings.kit.useTimeZone()
            return (settings, problems.map(\.description))
        }
        let (file, tls, history) = (Settings.absolutePath(self.settings), self.tls, self.history)
        let library = Library(settings: settings, problems: problems, reader: reader, plan: StorePlan.plan) { desk in
            try Console.services(at: desk, settingsFile: file, tls: tls, history: history)
        }
        do {
            if let certificate {
                let fingerprint = try await reader.perform { _ in try library.makeCertificate(in: certificate) }
                guard let fingerprint else {
                    throw ExitCode(EX_CANTCREAT)
                }
                return print(fingerprint)
            }
            try await rebuild ? library.rebuild() : library.run()
        } catch let code as ExitCode {
            throw code
        } catch {
            library.report(error)
            throw ExitCode(EX_CANTCREAT)
        }
    }
}
