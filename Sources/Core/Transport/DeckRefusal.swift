public import Takes

/// The refusals by the recorder that a person can meet on the page.
public enum DeckRefusal: Hashable, Sendable {
    case shuttingDown
    case nothingRecorded
    case nothingPlayed(command: String)
    case takeRecorded(command: String, take: TakeName?)
    /// The subject is a command with its take, such as `discard: heron07-0042`.
    case takePlayed(subject: String)
    case takeInUse
    case takeNotContinued
    case tooManyMarkers(most: Int)
    case noTakeYet(folder: String)
    case noSuchTake(command: String, TakeReference, folder: String)

    case cardAway
    case cardOpening(card: String)
    case cardUnusable(message: String)
    case storageUnusable(message: String, isFull: Bool)
    /// The subject is a command, with its take if it has one.
    case storageAway(subject: String, folder: String)
    case notPlayable(message: String, isCardInUse: Bool)

    case notOnStick
    case noStick
    case stickUnmounting
    case stickNotUnmounted(seconds: Int)

    case deletedByOther(stem: String)
    case stillDeleted(stem: String)
    case takeChanged(stem: String)
    case deletionLate(stem: String)
    case deletionWithoutStorage(stem: String)
    case deletedPartly(message: String)
    case notDeleted(Refusal.Code, message: String)
    case binNotRead(stem: String)
    case notInBin(stem: String, detail: String)
    case takeInPlace(stem: String)
    case restoredWithoutStorage(stem: String)
    case notRestored(message: String)

    case clockBeingSet
    case clockNotSet(Refusal.Code, message: String)
    case clockChip(message: String)
    case lampsInUse(lamp: String, advice: String)
    case checkUpRunning
    case checkUpStuck
    case listLate(subject: String, seconds: Int)
    case deviceSilent(subject: String, device: String, seconds: Int)
}

extension Refusal {
    public init(_ refusal: DeckRefusal) {
        switch refusal {
        case .shuttingDown: self.init(.busy, "the kit is shutting down", Reason("shutting-down"))
        case .nothingRecorded:
            self.init(.busy, "mark: nothing is being recorded: record a take first", Reason("nothing-recorded"))
        case .nothingPlayed(let command):
            self.init(.busy, "\(command): nothing is being played: play a take first", Reason("nothing-played"))
        case .takeRecorded(let command, let take):
            self.init(
                .busy, "\(command): \(take?.stem ?? "a take") is being recorded: stop it first",
                Reason("take-recorded"))
        case .takePlayed(let subject):
            self.init(.busy, "\(subject) is being played: stop it first", Reason("take-played"))
        case .takeInUse: self.init(.busy, "eject: a take is recorded or played: stop it first", Reason("take-in-use"))
        case .takeNotContinued:
            self.init(.io, "record: the last take could not go on: record again", Reason("take-not-continued"))
        case .tooManyMarkers(let most):
            self.init(
                .busy, "mark: the take has \(most) markers, and keeps no more: begin another take",
                Reason("too-many-markers", ["most": .number(most)]))
        case .noTakeYet(let folder): self.init(.notFound, "play: no take yet in \(folder)", Reason("no-take-yet"))
        case .noSuchTake(let command, let take, let folder):
            self.init(
                .notFound, "\(command): \(take): no such take in \(folder)",
                Reason("take-unknown", ["take": .text("\(take)")]))

        case .cardAway: self.init(.io, "record: the card went away", Reason("card-away"))
        case .cardOpening(let card):
            self.init(.io, "capture: \(card): the card is being opened", Reason("card-opening"))
        case .cardUnusable(let message): self.init(.io, message, Reason("card-unusable"))
        case .storageUnusable(let message, let isFull):
            self.init(.io, message, isFull ? Reason("storage-full") : Reason("storage-unusable"))
        case .storageAway(let subject, let folder):
            self.init(.io, "\(subject): \(folder) is not there", Reason("storage-away", ["folder": .text(folder)]))
        case .notPlayable(let message, let isCardInUse):
            self.init(.io, message, isCardInUse ? Reason("card-in-use") : Reason("not-playable"))

        case .notOnStick:
            self.init(
                .notFound, "eject: takes are not kept on a stick: [takes] directory says where they are",
                Reason("not-on-stick"))
        case .noStick: self.init(.notFound, "eject: no stick is in", Reason("no-stick"))
        case .stickUnmounting:
            self.init(
                .busy, "eject: the stick is being unmounted: wait for the upload lamp", Reason("stick-unmounting"))
        case .stickNotUnmounted(let seconds):
            self.init(
                .io,
                "eject: the stick was not unmounted within \(seconds) s: see 'journalctl -u fieldfare-eject'",
                Reason("stick-not-unmounted", ["seconds": .number(seconds)]))

        case .deletedByOther(let stem):
            self.init(
                .busy, "discard: \(stem): it is being deleted by another order", Reason("take-being-deleted"))
        case .stillDeleted(let stem):
            self.init(
                .busy, "restore: \(stem): it is being deleted: ask again in a moment", Reason("take-being-deleted"))
        case .takeChanged(let stem):
            self.init(
                .busy, "discard: \(stem): it is not what it was when this was decided: look at it again",
                Reason("take-changed"))
        case .deletionLate(let stem):
            self.init(
                .busy, "discard: \(stem): it comes too late, and nothing is deleted: ask again",
                Reason("deletion-late"))
        case .deletionWithoutStorage(let stem):
            self.init(
                .io, "discard: \(stem): its storage went away before it was deleted", Reason("storage-out-meanwhile"))
        case .deletedPartly(let message): self.init(.io, message, Reason("deleted-partly"))
        case .notDeleted(let code, let message): self.init(code, message, Reason("not-deleted"))
        case .binNotRead(let stem):
            self.init(
                .busy, "restore: \(stem): the bin is still being read: ask again in a moment", Reason("bin-not-read"))
        case .notInBin(let stem, let detail):
            self.init(.notFound, "restore: \(stem): \(detail)", Reason("not-in-bin"))
        case .takeInPlace(let stem):
            self.init(
                .busy,
                "restore: \(stem): a take of that name is there: it stays in the bin: if it was copied back "
                    + "whole, use 'fieldfare bin empty \(stem)'", Reason("take-in-place"))
        case .restoredWithoutStorage(let stem):
            self.init(
                .io, "restore: \(stem): its storage went away: it is in the bin there",
                Reason("storage-out-meanwhile"))
        case .notRestored(let message): self.init(.io, message, Reason("not-restored"))

        case .clockBeingSet:
            self.init(.busy, "clock: it is being set: try again in a moment", Reason("clock-being-set"))
        case .clockNotSet(let code, let message): self.init(code, message, Reason("clock-not-set"))
        case .clockChip(let message): self.init(.io, message, Reason("clock-chip"))
        case .lampsInUse(let lamp, let advice):
            self.init(.busy, "light: \(lamp): the lamps show a take now\(advice)", Reason("lamps-in-use"))
        case .checkUpRunning:
            self.init(
                .busy, "doctor: another check-up is under way: try again in a moment", Reason("check-up-running"))
        case .checkUpStuck:
            self.init(
                .busy, "doctor: the last check-up still waits for a device or the storage, which does not answer",
                Reason("check-up-stuck"))
        case .listLate(let subject, let seconds):
            self.init(
                .busy, "\(subject): no list within \(seconds) s: try again",
                Reason("list-late", ["seconds": .number(seconds)]))
        case .deviceSilent(let subject, let device, let seconds):
            self.init(
                .busy,
                "\(subject): \(device) has not answered for \(seconds) s: unplug it and plug it in again, then "
                    + "try again",
                Reason("device-silent", ["device": .text(device), "seconds": .number(seconds)]))
        }
    }
}
