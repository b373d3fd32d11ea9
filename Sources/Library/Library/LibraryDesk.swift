public import Catalog
public import Control
public import Logging
public import Settings
public import Takes
public import Transport

/// Where other services of the same process ask the library. May be used by any thread.
public struct LibraryDesk: Sendable {
    /// Of the kit.
    public let settings: Settings
    /// The library's.
    public let log: Logger
    /// The code by which phones are paired.
    public let pairing: PairingCodeFile
    /// The console's; nil: there is none, or no console.
    public let certificate: CertificateFile?
    private let requests: LibraryRequests
    private let deletion: TakeDeletion
    private let sticks: StickDesk
    private let changes: CatalogChanges

    init(
        settings: Settings, log: Logger, pairing: PairingCodeFile, certificate: CertificateFile?,
        requests: LibraryRequests, deletion: TakeDeletion, sticks: StickDesk, changes: CatalogChanges
    ) {
        self.settings = settings
        self.log = log
        self.pairing = pairing
        self.certificate = certificate
        self.requests = requests
        self.deletion = deletion
        self.sticks = sticks
        self.changes = changes
    }

    /// Calls a handler with each change of what is listed, by whomever it is made, until the process ends. It must not wait.
    public func watch(_ handler: @escaping @Sendable (CatalogChange) -> Void) { changes.watch(handler) }

    /// Carries out a request, as the library's socket does. It may wait for the disk.
    /// - Returns: the object of the reply, JSON.
    /// - Throws: `Refusal`; what concerns stores (`remote`) is refused.
    public func answer(_ message: LibraryMessage) throws(Refusal) -> String {
        try requests.answer(message)
    }

    /// Carries out several changes of what a person noted of one take: all of them, or none. It may wait for the disk.
    /// - Returns: the object of the reply, JSON.
    public func change(_ stem: String, _ messages: [LibraryMessage]) throws(Refusal) -> String {
        try requests.change(stem, messages)
    }

    /// A take. It may wait for the disk.
    /// - Parameter name: of the request, for the sentence of a refusal.
    public func take(_ stem: String, for name: String) throws(Refusal) -> CatalogedTake {
        try requests.take(stem, for: name)
    }

    /// What is noted of a take. It may wait for the disk.
    public func notes(of take: TakeIdentity, for name: String) throws(Refusal) -> TakeNotes {
        try requests.notes(of: take, for: name)
    }

    /// Accepts a take as it is, though its sound is not what was recorded.
    /// - Returns: the object of the reply, JSON.
    /// - Throws: `Refusal`.
    public func acceptDamaged(_ stem: String) async throws(Refusal) -> String {
        try await deletion.acceptDamaged(stem)
    }

    /// Adopts the stick that is in.
    /// - Parameter phone: the name of the phone that asks for it; nil: of none that is paired.
    /// - Returns: the object of the reply, JSON, and whether the stick was not adopted before.
    /// - Throws: `Refusal`.
    public func adoptStick(by phone: String?) async throws(Refusal) -> (reply: String, isNew: Bool) {
        try await sticks.adopt(by: phone.map { "by the phone \($0)" } ?? "by a phone that is not paired")
    }

    /// Deletes copies of a take. What is refused, is refused before anything is deleted, unless the sentence says otherwise.
    /// - Throws: `Refusal`; `ControlError`, if the recorder does not answer.
    public func delete(_ stem: String, _ wanted: Deletion) async throws {
        try await deletion.delete(stem, wanted)
    }

    /// Has a take taken out of the recorder's bin.
    /// - Throws: `Refusal`; `ControlError`, if the recorder does not answer.
    public func restore(_ stem: String) async throws { try await deletion.restore(stem) }
}
