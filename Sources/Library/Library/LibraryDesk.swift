public import Catalog
public import Control
public import Logging
public import Settings
public import Takes
public import Transport

/// The interface by which other services of the same process use the library. Thread-safe. The synchronous functions
/// may block on the disk.
public struct LibraryDesk: Sendable {
    public let settings: Settings
    public let log: Logger
    public let pairing: PairingCodeFile
    /// The console's certificate, or nil if there is none or the console is off.
    public let certificate: CertificateFile?
    private let requests: LibraryRequests
    private let deletion: TakeDeletion
    private let sticks: StickDesk
    private let spectra: SpectraDesk
    private let changes: CatalogChanges

    init(
        settings: Settings, log: Logger, pairing: PairingCodeFile, certificate: CertificateFile?,
        requests: LibraryRequests, deletion: TakeDeletion, sticks: StickDesk, spectra: SpectraDesk,
        changes: CatalogChanges
    ) {
        self.settings = settings
        self.log = log
        self.pairing = pairing
        self.certificate = certificate
        self.requests = requests
        self.deletion = deletion
        self.sticks = sticks
        self.spectra = spectra
        self.changes = changes
    }

    /// Calls a handler after each change of the listed takes, whoever made it, until the process ends. The handler must
    /// not block.
    public func watch(_ handler: @escaping @Sendable (CatalogChange) -> Void) { changes.watch(handler) }

    public func status() throws(Refusal) -> LibraryStatus { try requests.status() }

    public func takes(_ query: TakeQuery) throws(Refusal) -> TakePage { try requests.takes(query) }

    public func show(_ take: TakeReference) throws(Refusal) -> ShowReply { try requests.show(take) }

    /// The takes that began in each of some stretches of time.
    public func counts(in stretches: [Range<WallTime>]) throws(Refusal) -> [Catalog.TakeCount] {
        try requests.counts(in: stretches)
    }

    /// The takes that were recorded in a stretch of time, also in part, in the order of their starts.
    public func takes(in stretch: Range<WallTime>) throws(Refusal) -> [Catalog.TimedTake] {
        try requests.takes(in: stretch)
    }

    /// The current markers of a take, by frame.
    public func markers(of take: Catalog.TimedTake) throws(Refusal) -> [Sidecar.Marker] {
        try requests.markers(of: take)
    }

    /// The sidecar of a take without its clock map, or nil if the take was removed meanwhile.
    public func sidecar(of take: Catalog.TimedTake) throws(Refusal) -> Sidecar? { try requests.sidecar(of: take) }

    /// Applies several changes to the notes of one take: all of them or none.
    public func change(_ stem: String, _ changes: [NotesChange]) throws(Refusal) -> TakeReply {
        try requests.change(.stem(stem), changes, for: "take")
    }

    /// - Parameter limit: the greatest number of takes in the report.
    public func outbox(limit: Int) throws(Refusal) -> OutboxReport { try requests.outbox(limit: limit) }

    public func carryOut(_ wish: OutboxWish) throws(Refusal) -> OutboxReport { try requests.carryOut(wish) }

    public func carryOut(_ decision: OutboxDecision, of take: TakeReference) throws(Refusal) -> TakeReply {
        try requests.carryOut(decision, of: take)
    }

    /// - Parameter name: the request's name, with which a refusal begins.
    public func take(_ stem: String, for name: String) throws(Refusal) -> CatalogedTake {
        try requests.take(stem, for: name)
    }

    /// The notes of a take; empty if they are damaged.
    public func notes(of take: TakeIdentity, for name: String) throws(Refusal) -> TakeNotes {
        try requests.notes(of: take, for: name)
    }

    /// The files with the columns of a take's spectrogram.
    /// - Parameter sidecar: of the take.
    public func columns(of sidecar: Sidecar) throws(Refusal) -> TakeColumns {
        spectra.columns(of: sidecar, try requests.notes(of: sidecar.identity, for: "spectrum"))
    }

    /// Somebody waits for the columns of a take: they are computed next. Does not block. To be repeated while that is so.
    public func waitForColumns(of sidecar: Sidecar) { spectra.look(at: sidecar.identity) }

    /// Accepts a take as it is, although its sound differs from what was recorded.
    public func acceptDamaged(_ stem: String) async throws(Refusal) -> TakeReply {
        try await deletion.acceptDamaged(stem)
    }

    /// Adopts the inserted stick.
    /// - Parameter phone: the name of the paired phone that requested it, or nil.
    /// - Returns: the reply, and whether the stick was not adopted before.
    public func adoptStick(by phone: String?) async throws(Refusal) -> (reply: StickReply, isNew: Bool) {
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
