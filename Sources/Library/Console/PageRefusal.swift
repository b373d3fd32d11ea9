import Control
import HTTPTypes
import Spectra
import Transport

/// The refusals by the console that a person can meet on the page.
enum PageRefusal {
    case notPaired
    case ending
    case recorderAway(message: String)
    case recorderFailed(Refusal.Code, message: String)

    case pairingClosed
    case noCode
    case wrongCode(left: Int)
    case wrongCodes
    case oldRecorder
    case tooManyPhones
    case phoneNotSaved(fact: String)
    case phoneName
    case noPassword
    case wrongPassword
    case wrongPasswords(seconds: Int64)
    case passwordUnreadable
    case noSuchPhone

    case settingsChanged(file: String)
    case settingsByHand(file: String)
    case settingNotAllowed(name: String, message: String)
    case settingsFailed(message: String)

    case updateUnavailable
    case updateInProgress
    case updateOnTrial
    case updateName(String)
    case updateTooLong(name: String)
    case updateWithoutRoom(name: String, mebibytes: Int64, free: Int64)
    case updateFailed(fact: String)

    case logUnreadable(message: String)
    case historyUnreadable(fact: String)
    case supportFailed(fact: String)
    /// Another browser has the turn.
    case turnTaken(message: String)

    case listeningForbidden(command: String)
    case noSound(command: String, socket: String, failure: String)

    case storageOut(subject: String)
    case fileMissing(message: String)
    case noRoom(message: String)
    case notExportable(message: String)
    case soundUnusable(message: String)
    case noMP3(message: String)
    case picturesInTransit
    case pictureDamaged(take: String, sentence: String)
    case pictureFailed(take: String, sentence: String)
    case pictureWithoutRoom(take: String)
}

extension Problem {
    init(_ refusal: PageRefusal) {
        switch refusal {
        case .notPaired:
            self.init(
                .unauthorized, .denied,
                "console: this phone is not paired: hold play on the kit for 3 seconds until the upload lamp flickers, "
                    + "then pair it by the code of its label", Reason("not-paired"))
        case .ending:
            self.init(.serviceUnavailable, .busy, "console: the library ends: try again", Reason("library-ending"))
        case .recorderAway(let message): self.init(.serviceUnavailable, .busy, message, Reason("recorder-away"))
        case .recorderFailed(let code, let message):
            self.init(.internalServerError, code, message, Reason("recorder-failed"))

        case .pairingClosed:
            self.init(
                .forbidden, .denied,
                "pair: the kit accepts no phone now: hold play on it for 3 seconds, until the upload lamp flickers, "
                    + "then try again", Reason("pairing-closed"))
        case .noCode:
            self.init(
                .badRequest, .usage,
                "pair: code: give the six digits that the kit's label has, or 'fieldfare label'", Reason("no-code"))
        case .wrongCode(let left):
            self.init(
                .forbidden, .denied, "pair: the code is wrong: \(left) more wrong ones end pairing for all phones",
                Reason("wrong-code", ["left": .number(left)]))
        case .wrongCodes:
            let most = PairingWindow.mostWrongCodes
            self.init(
                .forbidden, .denied,
                "pair: \(most) codes were wrong: no phone can be paired until play is held on the kit again",
                Reason("wrong-codes", ["most": .number(most)]))
        case .oldRecorder:
            self.init(
                .internalServerError, .internal, "pair: the recorder does not know pairing codes: update it",
                Reason("old-recorder"))
        case .tooManyPhones:
            let most = PhoneBook.mostPhones
            self.init(
                .conflict, .busy,
                "pair: \(most) phones are paired, and no more can be: remove one on the page of a paired phone",
                Reason("too-many-phones", ["most": .number(most)]))
        case .phoneNotSaved(let fact):
            self.init(
                .internalServerError, .io, "pair: \(fact): the phone is not paired", Reason("phone-not-saved"))
        case .phoneName:
            let most = PhoneEvent.longestName
            self.init(
                .badRequest, .usage,
                "pair: name: allowed is a line of 1 to \(most) bytes: give the phone a name",
                Reason("phone-name", ["most": .number(most)]))
        case .noPassword:
            self.init(
                .forbidden, .denied,
                "pair: no password is set: hold play on the kit for 3 seconds and pair by the code",
                Reason("no-password"))
        case .wrongPassword: self.init(.forbidden, .denied, "pair: the password is wrong", Reason("wrong-password"))
        case .wrongPasswords(let seconds):
            self.init(
                .tooManyRequests, .busy, "pair: too many wrong passwords: try again in \(seconds) seconds",
                Reason("wrong-passwords", ["seconds": .number(Int(seconds))]))
        case .passwordUnreadable:
            self.init(
                .internalServerError, .io,
                "pair: the kit's password cannot be read: its file must belong to the library's user, with mode 600",
                Reason("password-unreadable"))
        case .noSuchPhone: self.init(.notFound, .notFound, "console: no such phone", Reason("no-such-phone"))

        case .settingsChanged(let file):
            self.init(
                .conflict, .busy, "settings: \(file) was changed meanwhile: look at it again, and change it then",
                Reason("settings-changed"))
        case .settingsByHand(let file):
            self.init(
                .conflict, .busy, "settings: fieldfare-settings.path does not run here: change \(file) by hand",
                Reason("settings-by-hand", ["file": .text(file)]))
        case .settingNotAllowed(let name, let message):
            self.init(.badRequest, .usage, message, Reason("setting-not-allowed", ["name": .text(name)]))
        case .settingsFailed(let message):
            self.init(.internalServerError, .io, message, Reason("settings-failed"))

        case .updateUnavailable:
            self.init(
                .conflict, .busy,
                "update: this machine does not run from a kit's image: install the new packages with apt",
                Reason("update-unavailable"))
        case .updateInProgress:
            self.init(
                .conflict, .busy,
                "update: an update is being checked, or waits until nothing is recorded: send this one after that",
                Reason("update-in-progress"))
        case .updateOnTrial:
            self.init(
                .conflict, .busy, "update: an update is being tried: send this one in three minutes",
                Reason("update-on-trial"))
        case .updateName(let name):
            self.init(
                .badRequest, .usage,
                "update: \(JSONValue.string(name)) is not an update's name: rename it to letters, digits and '.', '+', "
                    + "'~', '_', '-', and '.update' at its end", Reason("update-name", ["name": .text(name)]))
        case .updateTooLong(let name):
            let most = UpdateDesk.mostBytes >> 20
            self.init(
                .contentTooLarge, .usage, "update: \(name) is longer than \(most) MiB: not an update",
                Reason("update-too-long", ["name": .text(name), "most": .number(Int(most))]))
        case .updateWithoutRoom(let name, let mebibytes, let free):
            self.init(
                .insufficientStorage, .io,
                "update: \(name) has \(mebibytes) MiB, and \(free) are free: delete takes that you have elsewhere",
                Reason(
                    "update-without-room",
                    ["name": .text(name), "needed": .number(Int(mebibytes)), "free": .number(Int(free))]))
        case .updateFailed(let fact):
            self.init(
                .internalServerError, .io,
                "update: \(fact): put it on the boot partition of the kit's card instead", Reason("update-failed"))

        case .logUnreadable(let message): self.init(.serviceUnavailable, .io, message, Reason("log-unreadable"))
        case .historyUnreadable(let fact):
            self.init(.internalServerError, .io, "history: \(fact)", Reason("history-unreadable"))
        case .supportFailed(let fact):
            self.init(
                .serviceUnavailable, .io, "support: \(fact): make the file on the kit with 'sudo fieldfare support'",
                Reason("support-failed"))
        case .turnTaken(let message): self.init(.conflict, .busy, message, Reason("turn-taken"))

        case .listeningForbidden(let command):
            self.init(
                .forbidden, .denied,
                "\(command): the settings forbid it: [console] live_listening = true allows it",
                Reason("listening-forbidden"))
        case .noSound(let command, let socket, let failure):
            self.init(
                .serviceUnavailable, .busy, "\(command): \(socket): the recorder sends no sound: \(failure)",
                Reason("no-sound"))

        case .storageOut(let subject):
            self.init(
                .conflict, .busy, "\(subject) is on a storage that is out: put it in first", Reason("storage-out"))
        case .fileMissing(let message): self.init(.notFound, .notFound, message, Reason("file-missing"))
        case .noRoom(let message): self.init(.insufficientStorage, .io, message, Reason("no-room"))
        case .notExportable(let message): self.init(.badRequest, .usage, message, Reason("not-exportable"))
        case .soundUnusable(let message):
            self.init(.unprocessableContent, .badData, message, Reason("sound-unusable"))
        case .noMP3(let message): self.init(.notImplemented, .internal, message, Reason("no-mp3"))
        case .picturesInTransit:
            self.init(
                .serviceUnavailable, .busy, "spectrum: too many pictures are on their way to phones: try again",
                Reason("pictures-in-transit"))
        case .pictureDamaged(let take, let sentence):
            let most = SoundPicture.mostSeconds
            self.init(
                .unprocessableContent, .badData,
                "spectrum: \(take): \(sentence): only ranges of at most \(most) s can be shown",
                Reason("picture-damaged", ["most": .number(most)]))
        case .pictureFailed(let take, let sentence):
            self.init(
                .internalServerError, .io, "spectrum: \(take): \(sentence): the next attempt is in ten minutes",
                Reason("picture-failed"))
        case .pictureWithoutRoom(let take):
            self.init(
                .insufficientStorage, .io,
                "spectrum: \(take): it does not fit on the storage of the library: free some space there",
                Reason("picture-without-room"))
        }
    }
}
