import Control
import Takes
import Transport

/// A change to the notes of a take by a person. Several changes are made in one step: all of them or none.
enum NotesChange: Sendable {
    case memo(String?, was: String??)
    case tags(adding: [String], removing: [String])
    case starred(Bool)
    case markers(setting: [Sidecar.Marker], removing: [TakeFrame])

    /// Nil if the request does not change a take.
    init?(_ message: LibraryMessage) {
        switch message {
        case .memo(_, let memo, let was): self = .memo(memo, was: was)
        case .tag(_, let adding, let removing): self = .tags(adding: adding, removing: removing)
        case .star(_, let isStarred): self = .starred(isStarred)
        case .markers(_, let setting, let removing): self = .markers(setting: setting, removing: removing)
        case .status, .takes, .show, .outbox, .outboxWish, .outboxDecision, .remote, .delete, .acceptDamaged,
            .pairingCode, .adoptStick:
            return nil
        }
    }

    /// Makes the change.
    /// - Parameters:
    ///   - end: the frame after the take's last one, including the gaps between parts.
    ///   - recorded: the markers of the take's sidecar.
    /// - Throws: `Refusal` if the notes would exceed a limit, or if somebody else changed the memo in the meantime.
    func apply(
        to notes: inout TakeNotes, of take: CatalogedTake, end: TakeFrame, recorded: [Sidecar.Marker]
    ) throws(Refusal) {
        switch self {
        case .memo(let memo, let was):
            guard notes.memo != memo || memo == nil && notes.otherMemos != nil else { return }
            if let was, was != notes.memo {
                throw Refusal(
                    .busy,
                    "memo: \(take.take): somebody else changed it meanwhile, to \(JSONValue.string(notes.memo ?? "").excerpt): "
                        + "look at it, then save yours again")
            }
            notes.memo = memo
            // The person sees all memos as one, so removing it removes all.
            if memo == nil { notes.otherMemos = nil }
        case .tags(let adding, let removing):
            notes.tag(adding: adding, removing: removing)
            guard notes.tags.count <= TakeNotes.mostTags else {
                throw Refusal(
                    .usage,
                    "tag: \(take.take) would have \(notes.tags.count) tags, allowed are \(TakeNotes.mostTags)")
            }
        case .starred(let isStarred): notes.starred = isStarred
        case .markers(let setting, let removing):
            if let late = setting.first(where: { $0.atFrame > end }) {
                throw Refusal(
                    .usage,
                    "markers: \(take.take) has frames 0 to \(end.count): \(late.atFrame.count) lies behind its end")
            }
            for marker in setting { notes.setMarker(marker) }
            for frame in removing { notes.removeMarker(at: frame, of: recorded) }
            guard notes.markers.count <= TakeNotes.mostMarkerChanges else {
                throw Refusal(
                    .usage,
                    "markers: \(take.take): more than \(TakeNotes.mostMarkerChanges) markers would be set or removed: remove some"
                )
            }
        }
    }
}
