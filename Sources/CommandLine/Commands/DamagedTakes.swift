import Control
import Files
import TakeFiles
import Takes
import Transport

/// Takes whose sound differs from the recording.
struct DamagedTakes {
    private let session: Session

    /// The library reads the whole take again.
    private static let timeout = Duration.seconds(600)

    init(_ session: Session) { self.session = session }

    /// Compares all files of a take. Returns the damage as a sentence, or nil if none was found.
    /// - Parameter command: the beginning of the sentences.
    func damage(of sidecar: Sidecar, in folder: String, for command: String) throws(Failure) -> String? {
        var problems: [String] = []
        for sound in sidecar.sounds {
            do throws(FileError) {
                guard let finding = try SoundCheck(sound, in: folder).run(), finding.isDamage else { continue }
                problems.append("\(sound.file): \(finding.sentence(sound))")
            } catch {
                session.console.complain("\(command): \(error.fact)")
            }
        }
        do throws(FileError) {
            if case .finished(let omissions) = try sidecar.surroundings(in: folder) {
                problems += omissions.map { "\($0.file): \($0.sentence)" }
            }
        } catch {
            session.console.complain("\(command): \(error.fact)")
        }
        guard let first = problems.first else { return nil }
        return problems.count == 1 ? first : "\(first) (and \(problems.count - 1) more of its files)"
    }

    /// Makes the library accept a take as it is.
    func accept(_ reference: TakeReference) throws(Failure) {
        let client = try session.connectToLibrary()
        let library = LibraryTakes(session, client)
        let stem = try library.ask(.show(reference), for: LibraryTakes.Shown.self).take.take
        let reply: JSONValue
        do throws(ControlError) {
            reply = try client.ask(.acceptDamaged(stem: stem), timeout: Self.timeout)
        } catch {
            throw Failure(error)
        }
        guard !session.options.json else { return try session.write(json: reply) }
        let deletion = "may be deleted as others are, unless one of its files is missing"
        try session.write(line: "accepted \(stem) as it is: it is sent, and \(deletion)")
    }

    /// The number of takes that the library lists as damaged, and the first one with its damage, or nil if the library
    /// does not answer.
    func count(_ client: LibraryClient) -> (count: Int, first: CatalogedTake?)? {
        var query = TakeQuery()
        query.isDamaged = true
        query.order = .number
        query.isDescending = false
        var found: [CatalogedTake] = []
        do throws(Failure) {
            try LibraryTakes(session, client).pages(query, TakeQuery.mostTakes) { (takes: [CatalogedTake]) in
                found += takes
            }
        } catch {
            return nil
        }
        // An older library does not know the condition and lists all takes.
        found.removeAll { $0.damaged == nil }
        return (found.count, found.first)
    }
}
