import Control
import Takes
import Transport

/// The refusals by the library that a person can meet on the page.
enum TakeRefusal {
    case unknown(command: String, TakeReference)
    case stillRead(command: String, TakeReference)
    case ofSeveralKits(command: String, TakeReference, count: Int, takes: String)
    case catalog(message: String)
    case zoneUnknown(command: String, zone: String)
    case storageOut(command: String, stem: String)

    case memoChanged(stem: String, memo: String)
    case tooManyTags(stem: String, count: Int)
    case tooManyMarkers(stem: String)

    case beingSent(stem: String)
    case beingDeleted(stem: String)
    case inUse(stem: String)
    case changed(stem: String)
    case notOnKit(stem: String)
    case unreadable(message: String)
    case elsewhere(stem: String, folder: String)
    case notSafe(stem: String)
    case neverCompared(path: String)
    case notAsSent(path: String)
    case notWhole(message: String)
    case notAsRecorded(message: String)
    case onOtherStick(stem: String, stick: String)
    case storeMissing(stem: String, store: String)
    case storeReplaced(stem: String, store: String)
    case storeLacks(stem: String, store: String, file: String)
    case storeHasOther(stem: String, store: String, file: String)
    /// The problem begins with the store's name or a file.
    case storeHasMore(stem: String, store: String, problem: String)
    case storeUnclear(Refusal.Code, message: String)
    case store(Refusal.Code, message: String)
    case stillOnKit(message: String)
    case outcomeUnknown(message: String)
    case goneAtHome(Refusal.Code, message: String)
    case notBinned(stem: String)

    case sticksNotUsed
    case noStickFolder
    case notAdopted(message: String)
    case notDamaged(stem: String)
    case fileUnreadable(stem: String, file: String)
}

extension Refusal {
    init(_ refusal: TakeRefusal) {
        switch refusal {
        case .unknown(let command, let take):
            self.init(
                .notFound, "\(command): \(take): the library knows no such take",
                Reason("take-unknown", ["take": .text("\(take)")]))
        case .stillRead(let command, let take):
            self.init(
                .busy, "\(command): \(take): not found yet, the library still reads the takes: try again",
                Reason("takes-being-read"))
        case .ofSeveralKits(let command, let take, let count, let takes):
            self.init(
                .badData,
                "\(command): \(take): takes of \(count) kits have this name: \(takes): name one by its kit_id and "
                    + "number, as these are", Reason("take-of-several-kits", ["take": .text("\(take)")]))
        case .catalog(let message): self.init(.io, message, Reason("catalog-failed"))
        case .zoneUnknown(let command, let zone):
            self.init(
                .usage,
                "\(command): zone: found \(JSONValue.string(zone).excerpt), allowed is a time zone such as \"Europe/Berlin\"",
                Reason("zone-unknown", ["zone": .text(zone)]))
        case .storageOut(let command, let stem):
            self.init(
                .busy, "\(command): \(stem): it is on a storage that is out: put it in first", Reason("storage-out"))

        case .memoChanged(let stem, let memo):
            let excerpt = JSONValue.string(memo).excerpt
            self.init(
                .busy,
                "memo: \(stem): somebody else changed it meanwhile, to \(excerpt): look at it, then save yours again",
                Reason("memo-changed", ["memo": .text(excerpt)]))
        case .tooManyTags(let stem, let count):
            self.init(
                .usage, "tag: \(stem) would have \(count) tags, allowed are \(TakeNotes.mostTags)",
                Reason("too-many-tags", ["most": .number(TakeNotes.mostTags)]))
        case .tooManyMarkers(let stem):
            self.init(
                .usage,
                "markers: \(stem): more than \(TakeNotes.mostMarkerChanges) markers would be set or removed: "
                    + "remove some",
                Reason("too-many-changes", ["most": .number(TakeNotes.mostMarkerChanges)]))

        case .beingSent(let stem):
            self.init(
                .busy, "delete: \(stem): it is being sent: wait until it is there", Reason("take-being-sent"))
        case .beingDeleted(let stem):
            self.init(
                .busy, "delete: \(stem): it is being deleted: look again in a moment", Reason("take-being-deleted"))
        case .inUse(let stem):
            self.init(
                .busy, "delete: \(stem): it is being played or recorded: stop it first", Reason("take-in-use"))
        case .changed(let stem):
            self.init(
                .busy, "delete: \(stem): it is another take than a moment ago: look at it again",
                Reason("take-changed"))
        case .notOnKit(let stem):
            self.init(.notFound, "delete: \(stem): it is not on the kit any more", Reason("take-gone"))
        case .unreadable(let message): self.init(.io, message, Reason("take-unreadable"))
        case .elsewhere(let stem, let folder):
            self.init(
                .busy,
                "delete: \(stem): it is in \(folder), and the recorder has its takes elsewhere: nothing is deleted",
                Reason("take-elsewhere", ["folder": .text(folder)]))
        case .notSafe(let stem):
            self.init(
                .busy, "delete: \(stem): it is not safe at home any more: look at it again",
                Reason("take-not-safe"))
        case .neverCompared(let path):
            self.init(
                .busy, "delete: \(path): it was never compared with another copy: nothing is deleted",
                Reason("never-compared"))
        case .notAsSent(let path):
            self.init(
                .io, "delete: \(path): it is not what was sent: compare it with its copies", Reason("not-as-sent"))
        case .notWhole(let message): self.init(.io, message, Reason("take-not-whole"))
        case .notAsRecorded(let message): self.init(.busy, message, Reason("not-as-recorded"))
        case .onOtherStick(let stem, let stick):
            self.init(
                .busy,
                "delete: \(stem): it is on the stick \(stick), and another one is in: put that one "
                    + "in, or delete the take on the kit alone", Reason("other-stick", ["stick": .text(stick)]))
        case .storeMissing(let stem, let store):
            self.init(
                .busy,
                "delete: \(stem): \(store) may have it, and the settings no longer name that store: name it again, or "
                    + "delete it on the kit alone", Reason("store-missing", ["store": .text(store)]))
        case .storeReplaced(let stem, let store):
            self.init(
                .busy,
                "delete: \(stem): another folder is in the place of \(store) now: look whether the take is still there",
                Reason("store-replaced", ["store": .text(store)]))
        case .storeLacks(let stem, let store, let file):
            self.init(
                .busy,
                "delete: \(stem): \(store) does not have \(file), though it was sent there: see whether it is the "
                    + "right stick or folder, or delete the take on the kit alone",
                Reason("store-lacks-file", ["store": .text(store), "file": .text(file)]))
        case .storeHasOther(let stem, let store, let file):
            self.init(
                .busy,
                "delete: \(stem): \(file) at \(store) is of another recording, or damaged: look at it there, or delete "
                    + "the take on the kit alone",
                Reason("store-has-other", ["store": .text(store), "file": .text(file)]))
        case .storeHasMore(let stem, let store, let problem):
            self.init(
                .busy,
                "delete: \(stem): \(problem): it has more than the kit: compare both, or delete the take on the kit "
                    + "alone",
                Reason("store-has-more", ["store": .text(store)]))
        case .storeUnclear(let code, let message): self.init(code, message, Reason("store-unclear"))
        case .store(let code, let message): self.init(code, message, Reason("store-failed"))
        case .stillOnKit(let message): self.init(.busy, message, Reason("still-on-kit"))
        case .outcomeUnknown(let message): self.init(.busy, message, Reason("deletion-unknown"))
        case .goneAtHome(let code, let message): self.init(code, message, Reason("deleted-partly"))
        case .notBinned(let stem):
            self.init(.notFound, "restore: \(stem): no such take in the bin", Reason("not-in-bin"))

        case .sticksNotUsed:
            self.init(
                .busy, "stick: takes are not sent to sticks: name \"auto\" under [outbox] store",
                Reason("sticks-not-used"))
        case .noStickFolder:
            self.init(
                .notFound, "stick: none is in that has a folder named fieldfare: insert it, or make the folder",
                Reason("no-stick-folder"))
        case .notAdopted(let message): self.init(.io, message, Reason("stick-not-adopted"))
        case .notDamaged(let stem):
            self.init(
                .busy, "takes: \(stem): it is not damaged: there is nothing to accept", Reason("take-not-damaged"))
        case .fileUnreadable(let stem, let file):
            self.init(
                .io, "takes: \(stem): \(file): it is not a file that can be read: nothing is accepted",
                Reason("file-unreadable", ["file": .text(file)]))
        }
    }
}
