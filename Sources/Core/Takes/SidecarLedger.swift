/// Collects the events of a recording and decides when its sidecar must be written again. It writes nothing itself.
///
/// Events that a person would miss after a power cut (a marker, a gap, a part, a filter, a gain, the take's start) are
/// due at the next sync. The others (the clock map, suspected losses, the drift, gaps that are merged into a range) are
/// written together with those, or alone after a minute of the take.
///
/// It limits the size of the sidecar for takes of any length. The first 1000 gaps are listed singly, later ones in at
/// most 1000 ranges with exact sums. It keeps at most 2000 clock points, evenly spread, and at most 1000 suspected
/// losses. It keeps at most 10 000 changes of the gain, and at most 10 000 markers with notes of at most 1000 bytes
/// each.
public struct SidecarLedger: Sendable {
    public private(set) var sidecar: Sidecar
    /// Counts the changes of the sidecar. The first is the sidecar as it was at the take's start.
    public private(set) var change = 1

    /// The last change that is due at the next sync.
    private var urgentChange = 1
    public private(set) var writtenChange = 0
    /// The length of the take when the sidecar was last handed over for writing.
    private var givenOutFrames: Int64 = 0

    /// The frames that have a marker, or nil if the set must be computed again.
    private var markedFrames: Set<TakeFrame>?
    /// A range of gaps spans at most this many seconds, unless it has one gap. Doubles whenever there are too many
    /// ranges.
    private var rangeSeconds: Int64 = 60
    /// The ledger keeps one in this many clock points.
    private var clockStride = 1
    /// The number of clock points that were noted.
    private var clockCount = 0

    /// The number of gaps that are listed singly.
    public static let mostSingleGaps = 1000
    /// The number of ranges after those gaps.
    public static let mostGapRanges = 1000
    public static let mostClockPoints = 2000
    public static let mostSuspectedLosses = 1000
    /// The number of markers. Later markers are ignored.
    public static let mostMarkers = 10_000
    /// The number of gain changes. After these, the newest change replaces the previous one.
    public static let mostGainChanges = 10_000
    /// The length of a marker's note in bytes. Longer notes are shortened.
    public static let longestNote = 1000
    /// After this many seconds of the take, events that are not urgent are written too.
    static let restSeconds: Int64 = 60

    public init(_ sidecar: Sidecar) {
        self.sidecar = sidecar
    }

    /// Whether the sidecar must be written at the next sync of a take of `frames`.
    public func isDue(frames: Int64) -> Bool {
        urgentChange > writtenChange
            || change > writtenChange && frames - givenOutFrames >= Self.restSeconds * Int64(max(1, sidecar.rateHz))
    }

    /// The sidecar was handed over for writing, when the take had `frames`.
    public mutating func giveOut(frames: Int64) {
        givenOutFrames = frames
    }

    /// The sidecar is on the disk as it was at `change`.
    public mutating func written(_ change: Int) {
        writtenChange = max(writtenChange, change)
    }

    public mutating func note(_ event: TakeEvent) {
        switch event {
        case .started(let started, let instant):
            sidecar.started = started.iso8601
            sidecar.startedMonotonicNs = instant.nanoseconds
            changed(isUrgent: true)
        case .marker(var marker):
            guard sidecar.markers.count < Self.mostMarkers else { return }
            marker.atFrame = freeFrame(at: marker.atFrame)
            marker.note = marker.note.map { Self.shortened($0, to: Self.longestNote) }
            marker.label = marker.label.map { Self.shortened($0, to: Sidecar.Marker.Content.longestName) }
            marker.by = marker.by.map { Self.shortened($0, to: Sidecar.Marker.Content.longestName) }
            sidecar.markers.append(marker)
            changed(isUrgent: true)
        case .gap(let frame, let frames, let cause):
            changed(isUrgent: add(Sidecar.Gap(atFrame: frame, frames: frames, cause: cause)))
        case .endedWithoutCard(let end):
            sidecar.endBeforeTimeAway(at: end)
            changed(isUrgent: true)
        case .filter(let filter):
            sidecar.filter.append(filter)
            changed(isUrgent: true)
        case .gain(let change): add(change)
        case .preRoll(let frames):
            guard frames != sidecar.preRollFrames else { return }
            sidecar.preRollFrames = frames
            changed(isUrgent: true)
        case .clock(let point):
            add(point)
            changed(isUrgent: false)
        case .suspectedLoss(let loss):
            add(loss)
            changed(isUrgent: false)
        case .drift(let ppm):
            guard ppm != sidecar.clockDriftPPM else { return }
            sidecar.clockDriftPPM = ppm
            changed(isUrgent: false)
        case .dated(let truth):
            var dated = sidecar
            truth.date(&dated)
            guard dated != sidecar else { return }
            sidecar = dated
            changed(isUrgent: true)
        case .corrected(let started):
            guard started != sidecar.startedCorrected else { return }
            sidecar.startedCorrected = started
            changed(isUrgent: true)
        }
    }

    public mutating func beganPart() {
        changed(isUrgent: true)
    }

    public mutating func end(by ending: Sidecar.Ending, levels: [Sidecar.Levels]) {
        sidecar.endedBy = ending
        sidecar.levels = levels
        changed(isUrgent: true)
    }

    /// A finished take continues.
    /// - Parameter finished: its sidecar, which may have been revised.
    public mutating func goOn(after finished: Sidecar) {
        // The library dated it since, or it was converted and made WAV again.
        if finished.revision > sidecar.revision { sidecar.adoptCalendar(of: finished) }
        sidecar.revision = finished.revision == .max ? .max : finished.revision + 1
        sidecar.endedBy = nil
        sidecar.levels = []
        changed(isUrgent: true)
    }

    /// Replaces the sidecar, because less of the take exists than was noted.
    public mutating func replace(_ sidecar: Sidecar) {
        self.sidecar = sidecar
        markedFrames = nil
        changed(isUrgent: true)
    }

    private mutating func changed(isUrgent: Bool) {
        change += 1
        if isUrgent { urgentChange = change }
    }

    /// The last frame up to `frame` without a marker. Each marker needs its own frame, because later edits find it by
    /// its frame.
    private mutating func freeFrame(at frame: TakeFrame) -> TakeFrame {
        var marked = markedFrames ?? Set(sidecar.markers.map(\.atFrame))
        markedFrames = nil
        var free = frame
        while free > .first, marked.contains(free) { free = free - 1 }
        marked.insert(free)
        markedFrames = marked
        return free
    }

    /// Cuts at whole characters.
    private static func shortened(_ text: String, to longest: Int) -> String {
        var kept = text
        while kept.utf8.count > longest { kept.removeLast() }
        return kept
    }
}

// MARK: - Bounded lists

extension SidecarLedger {
    /// - Returns: whether the gap is listed singly or extends a gap that is.
    private mutating func add(_ gap: Sidecar.Gap) -> Bool {
        if var last = sidecar.gaps.last, last.count == nil, last.cause == gap.cause, last.end == gap.atFrame {
            last.merge(gap)
            sidecar.gaps[sidecar.gaps.count - 1] = last
            return sidecar.gaps.count <= Self.mostSingleGaps
        }
        guard sidecar.gaps.count >= Self.mostSingleGaps else {
            sidecar.gaps.append(gap)
            return true
        }
        var ranges = Array(sidecar.gaps[Self.mostSingleGaps...])
        insert(gap, into: &ranges)
        while ranges.count > Self.mostGapRanges {
            rangeSeconds *= 2
            var wider: [Sidecar.Gap] = []
            for range in ranges { insert(range, into: &wider) }
            ranges = wider
        }
        sidecar.gaps.replaceSubrange(Self.mostSingleGaps..., with: ranges)
        return false
    }

    /// Adds the gap to the last range with the same cause, unless the range would become too long.
    private func insert(_ gap: Sidecar.Gap, into ranges: inout [Sidecar.Gap]) {
        let longest = rangeSeconds * Int64(max(1, sidecar.rateHz))
        // The ranges are in order and there are only four causes, so the search finds the range within a few steps.
        guard let index = ranges.lastIndex(where: { $0.cause == gap.cause }), gap.end - ranges[index].atFrame <= longest
        else { return ranges.append(gap) }
        ranges[index].merge(gap)
    }

    /// Always keeps the newest point, and one in `clockStride` of the earlier ones.
    private mutating func add(_ point: Sidecar.ClockPoint) {
        if clockCount > 0, (clockCount - 1) % clockStride != 0 { sidecar.clockMap.removeLast() }
        sidecar.clockMap.append(point)
        clockCount += 1
        guard sidecar.clockMap.count > Self.mostClockPoints else { return }
        clockStride *= 2
        let kept = sidecar.clockMap.indices.filter { $0 % 2 == 0 || $0 == sidecar.clockMap.count - 1 }
        sidecar.clockMap = kept.map { sidecar.clockMap[$0] }
    }

    /// Ignores a change to the same values.
    private mutating func add(_ change: Sidecar.GainChange) {
        guard (change.gainDB, change.agc) != sidecar.lastGain else { return }
        if sidecar.gain.count >= Self.mostGainChanges { sidecar.gain.removeLast() }
        sidecar.gain.append(change)
        changed(isUrgent: true)
    }

    private mutating func add(_ loss: Sidecar.SuspectedLoss) {
        sidecar.suspectedLosses.append(loss)
        guard sidecar.suspectedLosses.count > Self.mostSuspectedLosses else { return }
        let losses = sidecar.suspectedLosses
        sidecar.suspectedLosses = stride(from: 0, to: losses.count, by: 2).map { index in
            var merged = losses[index]
            if index + 1 < losses.count { merged.merge(losses[index + 1]) }
            return merged
        }
    }
}
