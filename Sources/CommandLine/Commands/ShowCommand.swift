import ArgumentParser
import Control
import Files
import TakeFiles
import Takes
import Transport

struct ShowCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the details of a take, and its waveform.",
        discussion: """
            Reads the take's sidecar from its folder. What a person noted of the take, and a take that is elsewhere, \
            comes from the library, while that is running; without it, the whole take is read and compared with its sidecar. \
            The waveform has the greatest peak of each stretch of time. \
            With --json the sidecar itself, its folder as 'folder', and what was noted.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var place: TakesOptions
    @Argument(help: "A take's stem, its number, or 'last'.") var take: TakeReference

    func run(in session: Session) throws(Failure) {
        let library = place.directory == nil ? try session.libraryIfRunning() : nil
        let shown: ShownTake
        do throws(Failure) {
            shown = try ShownTake(take, in: KitTakes(of: session, for: "show", directory: place.directory))
        } catch {
            // The take may be elsewhere, or on storage that is not plugged in.
            guard [66, 74].contains(error.exitStatus), let library else { throw error }
            return try write(ShownTake(take, of: LibraryTakes(session, library), else: error), in: session)
        }
        guard let library else { return try write(shown.judged(by: DamagedTakes(session)), in: session) }
        try write(shown.adding(notesOf: LibraryTakes(session, library), session), in: session)
    }

    private func write(_ found: ShownTake, in session: Session) throws(Failure) {
        let shown = found.besideDrafts(session)
        if options.json { return try session.write(line: shown.json.description) }
        let folder = shown.folder
        let lines = TakeText(shown.sidecar).lines(
            folder: folder + (shown.place == .elsewhere ? ", elsewhere: its storage is out" : ""), notes: shown.notes,
            damage: shown.damage, hasDraft: shown.hasDraft
        ) { file in (try? FileSystem().takeFileAttributes("\(folder)/\(file)"))?.byteCount }
        for line in lines + waveform(shown, session) { try session.write(line: line) }
    }

    private func waveform(_ shown: ShownTake, _ session: Session) -> [String] {
        let width = session.console.width
        let path = "\(shown.folder)/\(TakeFile.waveform(of: shown.sidecar.take).name)"
        guard let overview = PeaksOverview(reading: path, columns: width) else { return [] }
        return Waveform(overview, durationSeconds: shown.sidecar.durationSeconds)
            .lines(width: width, showsUnicode: session.console.showsUnicode)
    }
}
