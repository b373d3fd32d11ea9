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

    func run() async throws {
        // One heap for all threads: what one has freed serves the others.
        mallopt(M_ARENA_MAX, 1)
        // What is longer goes back to the system at once: glibc keeps more and more, the longer the pieces are that it has freed.
        mallopt(M_MMAP_THRESHOLD, 128 << 10)
        let (settings, problems) = Settings.load(from: settings)
        settings.kit.useTimeZone()
        let file = self.settings ?? Settings.defaultPath
        let library = Library(settings: settings, problems: problems.map(\.description), plan: StorePlan.plan) { desk in
            try Console.services(at: desk, settingsFile: file)
        }
        do {
            try await rebuild ? library.rebuild() : library.run()
        } catch {
            library.report(error)
            throw ExitCode(EX_CANTCREAT)
        }
    }
}
