import Control
import Takes
import Transport

extension NotesChange {
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
                throw Refusal(.memoChanged(stem: take.take, memo: notes.memo ?? ""))
            }
            notes.memo = memo
            // The person sees all memos as one, so removing it removes all.
            if memo == nil { notes.otherMemos = nil }
        case .tags(let adding, let removing):
            notes.tag(adding: adding, removing: removing)
            guard notes.tags.count <= TakeNotes.mostTags else {
                throw Refusal(.tooManyTags(stem: take.take, count: notes.tags.count))
            }
        case .starred(let isStarred): notes.starred = isStarred
        case .title(let title): notes.setTitle(title)
        case .markers(let setting, let removing):
            if let late = setting.first(where: { $0.atFrame > end }) {
                throw Refusal(
                    .usage,
                    "markers: \(take.take) has frames 0 to \(end.count): \(late.atFrame.count) lies behind its end")
            }
            for marker in setting {
                guard case .set(let region) = marker.region,
                    let problem = region.problem(inTakeUpTo: end, rateHz: take.rateHz)
                else { continue }
                throw Refusal(
                    .usage, "markers: \(take.take): the marker at frame \(marker.atFrame.count): \(problem)")
            }
            for marker in setting { notes.setMarker(marker) }
            for frame in removing { notes.removeMarker(at: frame, of: recorded) }
            guard notes.markers.count <= TakeNotes.mostMarkerChanges else {
                throw Refusal(.tooManyMarkers(stem: take.take))
            }
        }
    }
}
