import Filters
import Ring
import Takes
import Transport

/// What is known of the sound of the open card: the filter that its rate allows, its levels, and what a technician should know
/// of its signal. It reads the ring once for all of that, in batches: when the signal is checked, and when levels are requested.
final class InputWatch {
    let ring: Ring
    let card: String
    /// The filter in force.
    private(set) var design: FilterDesign
    /// The reason why the requested filter is off, or nil if the filter is in force.
    private(set) var designFault: Fault?
    private let reader: RingReader
    private let meter: RunningMeter
    private var signal: SignalWatch
    private var rate = RateWatch()
    /// The ring's losses at the last call of `newLosses`.
    private var lossesSeen: (xruns: Int, missed: Int64)
    /// The losses up to the beginning of the batch that was judged last.
    private var lostBefore: Losses
    /// Frames that were overwritten before they were measured.
    private var skippedFrames: Int64 = 0
    /// Frames for which the ring had no room, and that no take was to have.
    private var unwanted: Int64 = 0
    /// How often levels were requested since the signal was judged.
    private var levelsAsked = 0
    /// Sound from before this instant is not measured, or nil if all sound is measured.
    private var measuredFrom: Instant?

    /// Sound that is missing between what was measured.
    private struct Losses: Equatable {
        var xruns: Int
        var missed: Int64
        var skipped: Int64
    }

    /// How long lost frames are shown.
    static let overloadShown = Duration.seconds(30)

    init(_ open: OpenCard, filter: FilterRequest) {
        ring = open.ring
        card = open.grant.card
        reader = RingReader(open.ring, from: open.start)
        meter = RunningMeter(open.grant.format)
        signal = SignalWatch(format: open.grant.format, numbers: open.grant.layout.kept)
        design = .off(rateHz: open.grant.format.rateHz)
        lossesSeen = (open.ring.xrunCount, open.ring.missedFrames)
        lostBefore = Losses(xruns: lossesSeen.xruns, missed: lossesSeen.missed, skipped: 0)
        do {
            try setFilter(filter)
        } catch {
            designFault = Fault(.settings, "\(error); the filter is off")
        }
    }

    /// Puts a filter in force.
    /// - Throws: why the card's rate cannot have it; then nothing changes.
    func setFilter(_ filter: FilterRequest) throws {
        design = try FilterDesign(filter, rateHz: ring.format.rateHz)
        designFault = nil
    }

    /// How loud each channel was over the last 0.1 s, as the card delivered it.
    var levels: [Level] {
        // Who asks for them asks again soon.
        reader.isPrompt = true
        levelsAsked += 1
        measure()
        return meter.levels.map { Level(peak: $0.peakDBFS, rms: $0.rmsDBFS) }
    }

    /// Judges the signal of what was delivered since the last call.
    /// - Returns: whether a channel fell, which may be because its gain was changed.
    func judge(now: Instant) -> Bool {
        if levelsAsked == 0 { reader.isPrompt = false }
        levelsAsked = 0
        // Sound may get lost while this measures: then the next batch has that gap, too.
        let (before, lost) = (lostBefore, losses)
        lostBefore = lost
        measure()
        signal.add(meter.drain(), now: now)
        guard losses == before else {
            interruptLevels()
            return false
        }
        return signal.add(halves: meter.drainHalves(), now: now)
    }

    private var losses: Losses {
        Losses(xruns: ring.xrunCount, missed: ring.missedFrames, skipped: skippedFrames)
    }

    /// The gain was changed just now.
    func gainChanged() {
        measure()
        meter.dropHalves()
        signal.forgetLevels()
    }

    /// Does not judge what was delivered since the last call, nor what follows up to an instant.
    func passOver(upTo end: Instant? = nil) {
        measure()
        _ = meter.drain()
        interruptLevels()
        measuredFrom = end
    }

    /// The next half second does not follow the last one.
    private func interruptLevels() {
        meter.dropHalves()
        signal.interruptLevels()
    }

    /// Measures what was delivered since the last call; what was overwritten before is left out.
    private func measure() {
        if let measuredFrom, let position = ring.framePosition(at: measuredFrom) { reader.skip(to: position) }
        while true {
            switch unsafe reader.read({ unsafe meter.take($0) }) {
            case .frames: continue
            case .skipped(let frames): skippedFrames += frames
            case .nothing: return
            }
        }
    }

    /// Compares the card's rate with what it states.
    func judgeRate() { rate.add(ring.measuredRate) }

    /// The fault of a card whose rate is wrong, or nil if the rate is right or not known yet.
    var rateFault: Fault? { rate.fault(card: card) }

    /// All that is wrong with the signal, what lasts the longest first.
    func signalFaults(now: Instant, _ past: PastWords) -> [Fault] {
        signal.faults(now: now, card: card, past: past)
    }

    /// Sound that was lost since the last call; nil: none.
    /// - Parameter areMissedWanted: whether a take was to have the frames for which the ring had no room.
    func newLosses(areMissedWanted: Bool) -> Fault? {
        let before = lossesSeen
        lossesSeen = (ring.xrunCount, ring.missedFrames)
        if !areMissedWanted { unwanted += lossesSeen.missed - before.missed }
        guard lossesSeen.xruns > before.xruns || (areMissedWanted && lossesSeen.missed > before.missed) else {
            return nil
        }
        let counts = [
            (Int64(lossesSeen.xruns), "overruns of the card: the machine is too busy"),
            (lossesSeen.missed - unwanted, "frames dropped while the storage stalled: it is too slow"),
        ]
        let causes = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return Fault(.overload, "capture: \(card): sound was lost: \(causes.joined(separator: "; "))")
    }
}
