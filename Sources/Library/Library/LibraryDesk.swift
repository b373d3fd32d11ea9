public import Catalog
public import Control
public import Logging
public import Settings
public import Takes
public import Transport

/// The interface by which other services of the same process use the library. Thread-safe.
public struct LibraryDesk: Sendable {
    public let settings: Settings
    public let log: Logger
    public let pairing: PairingCodeFile
    /// The console's certificate, or nil if there is none or the console is off.
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

    /// Calls a handler after each change of the listed takes, whoever made it, until the process ends. The handler must
    /// not block.
    public func watch(_ handler: @escaping @Sendable (CatalogChange) -> Void) { changes.watch(handler) }

    /// Carries out a request like the library's socket does. May block on the disk.
    /// - Returns: the reply as a JSON object.
    /// - Throws: `Refusal`, also for requests that concern stores (`remote`).
    public func answer(_ message: LibraryMessage) throws(Refusal) -> String {
        try requests.answer(message)
    }

    /// Applies several changes to the notes of one take: all of them or none. May block on the disk.
    /// - Returns: the reply as a JSON object.
    public func change(_ stem: String, _ messages: [LibraryMessage]) throws(Refusal) -> String {
        try requests.change(stem, messages)
    }

    /// Finds a take. May block on the disk.
    /// - Parameter name: the request's name, for the sentence of a refusal.
    public func take(_ stem: String, for name: String) throws(Refusal) -> CatalogedTake {
        try requests.take(stem, for: name)
    }

    /// The notes of a take. May block on the disk.
    public func notes(of take: TakeIdentity, for name: String) throws(Refusal) -> TakeNotes {
        try requests.notes(of: take, for: name)
    }

    /// Accepts a take as it is, although its sound differs from what was recorded.
    /// - Returns: the reply as a JSON object.
    /// - Throws: `Refusal`.
    public func acceptDamaged(_ stem: String) async throws(Refusal) -> String {
        try await deletion.acceptDamaged(stem)
    }

    /// Adopts the inserted stick.
    /// - Parameter phone: the name of the paired phone that requested it, or nil.
    /// - Returns: the reply as a JSON object, and whether the stick was not adopted before.
    /// - Throws: `Refusal`.
    public func adoptStick(by phone: String?) async throws(Refusal) -> (reply: String, isNew: Bool) {
        try await sticks.adopt(by: phone.map { "by the phone \($0)" } ?? "by a phone that is not paired")
    }

    /// Deletes copies of a take. A refusal means that nothing was deleted, unless its sentence says otherwise.
    /// - Throws: `Refusal`; `ControlError` if the recorder does not answer.
    public func delete(_ stem: String, _ wanted: Deletion) async throws {
        try await deletion.delete(stem, wanted)
    }

    /// Asks the recorder to restore a take from its bin.
    /// - Throws: `Refusal`; `ControlError` if the recorder does not answer.
    public func restore(_ stem: String) async throws { try await deletion.restore(stem) }
}
