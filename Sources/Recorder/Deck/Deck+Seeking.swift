import Panel
import TakeFiles
import Takes
import Transport
import Workers

// Requests for takes that the deck may not know yet, because another program copied them into the folder.
extension Deck {
    /// The request that names a take.
    enum TakeUse: String { case play, select }

    /// A caller that waits until the folder was searched for its take.
    struct Seeker {
        var reference: TakeReference
        var use: TakeUse
        var asker: Asker
    }

    /// Plays or selects a take. An unknown one is searched for in the folder first, and the asker is answered after
    /// that. During a take, the storage belongs to the writer, so nothing is searched for.
    func use(_ reference: TakeReference, for use: TakeUse, _ asker: Asker) throws(Refusal) {
        do throws(Refusal) {
            apply(use, to: try find(reference, for: use.rawValue), asker)
        } catch {
            guard error.code == .notFound, reference != .last, !isRecording, storage.directory != nil else {
                throw error
            }
            seekers.append(Seeker(reference: reference, use: use, asker: asker))
            workers.archivist.post(.seek(reference))
        }
    }

    private func apply(_ use: TakeUse, to take: TakeName, _ asker: Asker) {
        switch use {
        case .play: decide(.play(take, by: asker))
        case .select:
            selection.select(take)
            answer = Indication.Answer(.selected, at: clock.now())
            reply(asker, .success(status))
        }
    }

    /// The folder was searched for a take.
    /// - Parameter directory: the searched folder.
    func sought(_ reference: TakeReference, _ found: Result<[TakeName], Refusal>, in directory: TakesDirectory?) {
        guard let index = seekers.firstIndex(where: { $0.reference == reference }) else { return }
        let seeker = seekers.remove(at: index)
        do throws(Refusal) {
            let takes = try found.get()
            if let directory, directory === storage.directory { for take in takes { selection.insert(take) } }
            apply(seeker.use, to: try find(reference, for: seeker.use.rawValue), seeker.asker)
        } catch {
            if seeker.use == .play { refuse(error) }
            reply(seeker.asker, .failure(error))
        }
        announce(.changed)
    }
}
