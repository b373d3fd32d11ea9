import Control
import FoundationEssentials
import TakeFiles
import Takes
import Transport

/// All that is known of one take, from its folder or from the library.
struct ShownTake {
    let sidecar: Sidecar
    let folder: String
    private(set) var place = CatalogedTake.Place.here
    /// What a person noted of it; nil: not known.
    private(set) var notes: TakeNotes?
    /// Why it is damaged, where no library says it; nil: it is not, or a library does.
    private(set) var damage: String?
    /// Whether a draft lies beside the sidecar of a take that is not being recorded.
    private(set) var hasDraft = false
    /// The sidecar as it is: a newer recorder may have written more than this command knows.
    private let members: [String: JSONValue]

    /// Reads a take from its folder.
    init(_ reference: TakeReference, in kit: KitTakes) throws(Failure) {
        let take = try kit.find(reference, for: "show")
        folder = kit.folder.folder(of: take)
        do {
            sidecar = try kit.folder.sidecar(of: take)
            members = try JSONValue(decoding: kit.folder.sidecarBytes(of: take)).members
        } catch {
            throw Failure(reading: error, "show")
        }
    }

    /// Asks the library for a take.
    /// - Parameter failure: why it was not found in the folder.
    init(_ reference: TakeReference, of library: LibraryTakes, else failure: Failure) throws(Failure) {
        let reply: JSONValue
        do throws(Failure) {
            reply = try library.ask(.show(reference))
        } catch {
            throw error.exitStatus == 66 ? failure : error
        }
        let bytes = Data(reply.description.utf8)
        guard let shown = try? JSONDecoder().decode(LibraryTakes.Shown.self, from: bytes),
            let document = reply["sidecar"],
            let sidecar = try? JSONDecoder().decode(Sidecar.self, from: Data(document.description.utf8))
        else { throw Failure(exitStatus: 70, "show: what the library sent is no take") }
        self.sidecar = sidecar
        folder = shown.take.folder
        place = shown.take.place
        notes = shown.notes
        members = document.members
    }

    /// Adds what a person noted, as far as the library knows the take by now.
    func adding(notesOf library: LibraryTakes, _ session: Session) -> ShownTake {
        var shown = self
        do throws(Failure) {
            shown.notes = try library.ask(.show(.stem(sidecar.take)), for: LibraryTakes.Shown.self).notes
        } catch {
            if error.exitStatus != 66 { session.console.complain("show: without what was noted: \(error)") }
        }
        return shown
    }

    /// Looks for what was not finished of it.
    func besideDrafts(_ session: Session) -> ShownTake {
        guard place == .here, case .goesOn? = try? sidecar.surroundings(in: folder) else { return self }
        let left = SoundSearch.Unfinished(take: sidecar.take, folder: folder, file: "")
        var shown = self
        shown.hasDraft = RecordedTake(session)?.isThat(left) != true
        return shown
    }

    /// Compares its sound with its sidecar.
    func judged(by damaged: DamagedTakes) throws(Failure) -> ShownTake {
        var shown = self
        shown.damage = try damaged.damage(of: sidecar, in: folder, for: "show")
        return shown
    }

    /// The sidecar, and beside its keys the folder, the place, and what was noted.
    var json: JSONValue {
        var members = members
        members["folder"] = .string(folder)
        members["place"] = .string(place.rawValue)
        if hasDraft { members["unfinished"] = .bool(true) }
        if let damage {
            members["sound"] = .string(SoundStanding.damaged.rawValue)
            members["damaged"] = .string(damage)
        }
        if let notes {
            members["memo"] = notes.memo.map { .string($0) } ?? .null
            if let others = notes.otherMemos { members["other_memos"] = .array(others.map { .string($0) }) }
            members["tags"] = .array(notes.tags.map { .string($0) })
            members["starred"] = .bool(notes.starred)
            // As they are now; those of the sidecar are as they were recorded.
            members["markers"] = (try? JSONValue(encoding: notes.markers(of: sidecar.markers))) ?? .array([])
        }
        return .object(members)
    }
}

extension JSONValue {
    /// The keys of an object; of anything else none.
    fileprivate var members: [String: JSONValue] {
        guard case .object(let members) = self else { return [:] }
        return members
    }
}
