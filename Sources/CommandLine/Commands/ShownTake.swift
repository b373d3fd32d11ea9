import Control
import FoundationEssentials
import TakeFiles
import Takes
import Transport

/// Everything known about one take, from its folder or from the library.
struct ShownTake {
    let sidecar: Sidecar
    let folder: String
    private(set) var place = CatalogedTake.Place.here
    /// A person's notes, or nil if unknown.
    private(set) var notes: TakeNotes?
    /// The damage found in the folder. Nil if the take is undamaged, or the library reports the damage.
    private(set) var damage: String?
    /// Whether a draft lies next to the sidecar of a take that is not being recorded.
    private(set) var hasDraft = false
    /// The sidecar's JSON. A newer recorder may have written more keys than this command knows.
    private let members: [String: JSONValue]

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
        else { throw Failure(exitStatus: 70, "show: the library's reply is not a take") }
        self.sidecar = sidecar
        folder = shown.take.folder
        place = shown.take.place
        notes = shown.notes
        members = document.members
    }

    /// Adds a person's notes, if the library already knows the take.
    func adding(notesOf library: LibraryTakes, _ session: Session) -> ShownTake {
        var shown = self
        do throws(Failure) {
            shown.notes = try library.ask(.show(.stem(sidecar.take)), for: LibraryTakes.Shown.self).notes
        } catch {
            if error.exitStatus != 66 { session.console.complain("show: without its notes: \(error)") }
        }
        return shown
    }

    /// Looks for unfinished files of the take.
    func besideDrafts(_ session: Session) -> ShownTake {
        guard place == .here, case .goesOn? = try? sidecar.surroundings(in: folder) else { return self }
        let left = SoundSearch.Unfinished(take: sidecar.take, folder: folder, file: "")
        var shown = self
        shown.hasDraft = RecordedTake(session)?.isThat(left) != true
        return shown
    }

    /// Compares the sound with the sidecar.
    func judged(by damaged: DamagedTakes) throws(Failure) -> ShownTake {
        var shown = self
        shown.damage = try damaged.damage(of: sidecar, in: folder, for: "show")
        return shown
    }

    /// The sidecar's keys, and in addition the folder, the place and the notes.
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
            if let title = notes.title { members["title"] = .string(title) }
            members["memo"] = notes.memo.map { .string($0) } ?? .null
            if let others = notes.otherMemos { members["other_memos"] = .array(others.map { .string($0) }) }
            members["tags"] = .array(notes.tags.map { .string($0) })
            members["starred"] = .bool(notes.starred)
            // These are the current markers. The sidecar has the recorded ones.
            members["markers"] = (try? JSONValue(encoding: notes.markers(of: sidecar.markers))) ?? .array([])
        }
        return .object(members)
    }
}

extension JSONValue {
    /// The keys of an object. Empty for other values.
    fileprivate var members: [String: JSONValue] {
        guard case .object(let members) = self else { return [:] }
        return members
    }
}
