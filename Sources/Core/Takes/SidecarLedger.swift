/// Notes what happens to a take that is being recorded, and says when its sidecar is to be written again. It writes nothing
/// itself.
///
/// What a person would miss after a power cut (a marker, a gap, a part, a filter, a gain, the take's start) is due at the next sync.
/// The rest (the clock map, suspected losses, the drift, gaps that are merged into a range) is written along with it, and is
/// due alone once a minute of the take has passed.
///
/// It bounds the sidecar's size, however long the take is: the first 1000 gaps are listed singly, later ones in at most 1000
/// ranges with exact sums; there are at most 2000 clock points, evenly spread, at most 1000 suspected losses, at most
/// 10 000 changes of the gain, and at most 10 000 markers of notes of at most 1000 bytes each.
public struct SidecarLedger: Sendable {
    /// What is known of the take.
    public private(set) var sidecar: Sidecar
    /// Counts the changes of the sidecar. The first is the sidecar as it was at the take's start.
    public private(set) var change = 1

    /// The last change that is due at the next sync.
    private var urgentChange = 1
    /// The last change that is on the disk.
    public private(set) var writtenChange = 0
    /// The length of the take when the sidecar was last given out to be written.
    private var givenOutFrames: Int64 = 0

    /// The frames that have a marker, or nil if they are not known.
    private var markedFrames: Set<TakeFrame>?
    /// Ranges of gaps span at least this many seconds.
    private var rangeSeconds: Int64 = 60
    /// Of so many clock points that are noted, one is kept.
    private var clockStride = 1
    /// Clock points that were noted.
    private var clockCount = 0

    /// Gaps that are listed one by one.
    public static let mostSingleGaps = 1000
    /// Ranges of gaps after those.
    public static let mostGapRanges = 1000
    /// Entries of `clock_map`.
    public static let mostClockPoints = 2000
    /// Entries of `suspected_losses`.
    public static let mostSuspectedLosses = 1000
    /// Markers: later ones are not noted.
    public static let mostMarkers = 10_000
    /// Changes of the gain: after these, the newest one takes the place of the one before.
    public static let mostGainChanges = 10_000
    /// Bytes of a marker's note: the rest is left out.
    public static let longestNote = 1000
    /// After so many seconds of the take, what is not urgent is written as well.
    static let restSeconds: Int64 = 60

    /// What is known of a take at its start.
    public init(_ sidecar: Sidecar) {
        self.sidecar = sidecar
    }

    /// Whether the sidecar is to be written at the next sync of a take of `frames`.
    public func isDue(frames: Int64) -> Bool {
        urgentChange > writtenChange
            || change > writtenChange && frames - givenOutFrames >= Self.restSeconds * Int64(max(1, sidecar.rateHz))
    }

    /// The sidecar was given out to be written, when the take had `frames`.
    public mutating func giveOut(frames: Int64) {
        givenOutFrames = frames
    }

    /// The sidecar is on the disk as it was at `change`.
    public mutating func written(_ change: Int) {
        writtenChange = max(writtenChange, change)
    }

    /// Notes what happened.
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

    /// Another part was begun.
    public mutating func beganPart() {
        changed(isUrgent: true)
    }

    /// The take ended.
    public mutating func end(by ending: Sidecar.Ending, levels: [Sidecar.Levels]) {
        sidecar.endedBy = ending
        sidecar.levels = levels
        changed(isUrgent: true)
    }

    /// A finished take goes on.
    /// - Parameter finished: its sidecar, as it may have been revised.
    public mutating func goOn(after finished: Sidecar) {
        // It was dated since, or converted and made WAV again.
        if finished.revision > sidecar.revision { sidecar.adoptCalendar(of: finished) }
        sidecar.revision = finished.revision == .max ? .max : finished.revision + 1
        sidecar.endedBy = nil
        sidecar.levels = []
        changed(isUrgent: true)
    }

    /// Less of the take is there than was noted: what is left of the sidecar.
    public mutating func replace(_ sidecar: Sidecar) {
        self.sidecar = sidecar
        markedFrames = nil
        changed(isUrgent: true)
    }

    private mutating func changed(isUrgent: Bool) {
        change += 1
        if isUrgent { urgentChange = change }
    }

    /// The last frame up to `frame` that has no marker: a marker that is edited later is known by its frame.
    private mutating func freeFrame(at frame: TakeFrame) -> TakeFrame {
        var marked = markedFrames ?? Set(sidecar.markers.map(\.atFrame))
        markedFrames = nil
        var free = frame
        while free > .first, marked.contains(free) { free = free - 1 }
        marked.insert(free)
        markedFrames = marked
        return free
    }

    /// What of a text is kept: whole characters.
    private static func shortened(_ text: String, to longest: Int) -> String {
        var kept = text
        while kept.utf8.count > longest { kept.removeLast() }
        return kept
    }
}

// MARK: - Bounded lists

extension SidecarLedger {
    /// - Returns: whether it is an entry of its own, or part of one.
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

    /// Adds to the last range of the same cause, unless that would become too long.
    private func insert(_ gap: Sidecar.Gap, into ranges: inout [Sidecar.Gap]) {
        let longest = rangeSeconds * Int64(max(1, sidecar.rateHz))
        // There are four causes, and the ranges are in order: the one that is searched for is among the last.
        guard let index = ranges.lastIndex(where: { $0.cause == gap.cause }), gap.end - ranges[index].atFrame <= longest
        else { return ranges.append(gap) }
        ranges[index].merge(gap)
    }

    /// The newest point is always there; of those before it, one in `clockStride`.
    private mutating func add(_ point: Sidecar.ClockPoint) {
        if clockCount > 0, (clockCount - 1) % clockStride != 0 { sidecar.clockMap.removeLast() }
        sidecar.clockMap.append(point)
        clockCount += 1
        guard sidecar.clockMap.count > Self.mostClockPoints else { return }
        clockStride *= 2
        let kept = sidecar.clockMap.indices.filter { $0 % 2 == 0 || $0 == sidecar.clockMap.count - 1 }
        sidecar.clockMap = kept.map { sidecar.clockMap[$0] }
    }

    /// What changes nothing is left out.
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
