import Takes

/// A take as one line of a list.
struct TakeLine {
    private let take: CatalogedTake
    private let showsUnicode: Bool

    /// The number of shown characters of a title or a memo.
    private static let longestText = 40

    /// - Parameter showsUnicode: whether the terminal can show more than ASCII.
    init(_ take: CatalogedTake, showsUnicode: Bool) {
        self.take = take
        self.showsUnicode = showsUnicode
    }

    /// A take in a folder. No notes are known.
    init(_ sidecar: Sidecar) {
        let notes = TakeNotes(take: sidecar.take)
        self.init(
            CatalogedTake(sidecar, notes: notes, bytes: 0, folder: "", place: .here), showsUnicode: false)
    }

    /// Stem, start, length, unusual properties and a person's notes.
    func text(stemWidth: Int) -> String {
        let stem = take.take + String(repeating: " ", count: max(0, stemWidth - take.take.utf8.count))
        return [stem, date, Figures.time(take.durationSeconds), remarks.joined(separator: ", "), notes]
            .filter { !$0.isEmpty }.joined(separator: "  ")
    }

    /// `2026-11-21 06:18:11`.
    private var date: String {
        let started = WallTime(iso8601: take.startedCorrected ?? take.started)
        let text = started.map { "\($0.date) \($0.timeOfDay)" } ?? "?"
        return text + (take.startedCorrected == nil && take.clock == .unset ? "?" : " ")
    }

    private var remarks: [String] {
        var remarks: [String] = []
        func count(_ count: Int, _ one: String, _ several: String) {
            if count > 0 { remarks.append(count == 1 ? "1 \(one)" : "\(count) \(several)") }
        }
        if take.place == .elsewhere { remarks.append("elsewhere") }
        if take.counts.parts > 1 { count(take.counts.parts, "part", "parts") }
        count(take.counts.markers, "marker", "markers")
        count(take.counts.gaps, "gap", "gaps")
        count(take.counts.suspectedLosses, "suspected loss", "suspected losses")
        if take.clipped { remarks.append("clipped") }
        if let ending = unusualEnding { remarks.append(ending) }
        if take.damaged != nil { remarks.append("damaged") }
        if take.recovered { remarks.append("recovered") }
        if let format = take.pendingFormat { remarks.append("to be converted to \(format)") }
        return remarks
    }

    private var unusualEnding: String? {
        switch take.endedBy {
        case .stop, .limit, .next, nil: nil
        case .shutdown, .diskFull, .storageError, .cardLost, .powerCut, .crash, .unknown:
            take.endedBy.map { "ended by \($0.rawValue)" }
        }
    }

    /// `★ [interview, river] Dawn at the weir "A wren at dawn…"`.
    private var notes: String {
        var notes: [String] = []
        if take.starred { notes.append(showsUnicode ? "\u{2605}" : "*") }
        if !take.tags.isEmpty { notes.append("[\(take.tags.map(\.printable).joined(separator: ", "))]") }
        if let title = beginning(of: take.title) { notes.append(title) }
        if let memo = beginning(of: take.memo) { notes.append("\"\(memo)\"") }
        return notes.joined(separator: " ")
    }

    /// The beginning of the first line that is not empty.
    private func beginning(of text: String?) -> String? {
        let lines = text?.split(whereSeparator: \.isNewline) ?? []
        guard let first = lines.first else { return nil }
        let isWhole = lines.count == 1 && first.count <= Self.longestText
        return String(first.prefix(Self.longestText)).printable + (isWhole ? "" : showsUnicode ? "\u{2026}" : "...")
    }
}
