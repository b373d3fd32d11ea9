public import Catalog
public import Takes

// Finds takes by stem, if the stem is unique.
extension Catalog {
    private func identity(_ stem: String) throws -> TakeIdentity {
        let found = try identities(of: stem)
        precondition(found.count == 1, "takes of several kits have this stem")
        return found[0]
    }

    package func notes(of stem: String) throws -> TakeNotes { try notes(of: identity(stem)) }

    package func readableNotes(of stem: String) throws -> (notes: TakeNotes, problem: NotesError?) {
        try readableNotes(of: identity(stem))
    }

    package func note(_ stem: String, _ change: (inout TakeNotes) -> Void) throws -> CatalogedTake {
        try note(identity(stem), change)
    }

    package func note(
        _ stem: String, change: (inout TakeNotes, _ recorded: [Sidecar.Marker]) throws -> Void
    ) throws -> CatalogedTake {
        try note(identity(stem), change: change)
    }

    package func noteAnyway(_ stem: String, _ change: (inout TakeNotes) -> Void) throws {
        try noteAnyway(identity(stem), change)
    }

    /// Reports that a store failed for one take.
    package func fail(
        _ stem: String, for store: String, why: String = "it is lost", of revision: Int = 1,
        _ retry: ParcelStanding.Retry = .byPersonOnly, at now: WallTime = TakesOnDisk.morning
    ) throws {
        try failed(.take(identity(stem)), of: revision, for: store, why: why, retry, at: now)
    }

    package func sidecar(of stem: String) throws -> String? { try sidecar(of: identity(stem)) }

    package func notesModified(of stem: String) -> Int64 { notesModified(of: TakeIdentity(stem: stem)) }
}

extension TakeIdentity: ExpressibleByStringLiteral {
    /// A take of which only the stem is known.
    public init(stringLiteral stem: String) { self.init(stem: stem) }
}

extension ParcelID: ExpressibleByStringLiteral {
    /// A take of which only the stem is known.
    public init(stringLiteral stem: String) { self = .take(TakeIdentity(stem: stem)) }
}
