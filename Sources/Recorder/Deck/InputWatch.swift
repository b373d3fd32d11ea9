import Filters
import Ring
import Takes
import Transport

/// The analysis of the open card's sound: the filter that its rate allows, its levels, and the faults of its signal. It
/// reads the ring once for all of these, in batches: when the signal is checked, and when levels are requested.
final class InputWatch {
    let ring: Ring
    let card: String
    private(set) var design: FilterDesign
    /// Why the requested filter is off, or nil if the filter is in force.
    private(set) var designFault: Fault?
    private let reader: RingReader
    private let meter: RunningMeter
    private var signal: SignalWatch
    private var rate = RateWatch()
    /// The ring's losses at the last call of `newLosses`.
    private var lossesSeen: (xruns: Int, missed: Int64)
    /// The losses before the batch that was judged last.
    private var lostBefore: Losses
    /// Frames that were overwritten before they were measured.
    private var skippedFrames: Int64 = 0
    /// Frames for which the ring had no room and that no take needed.
    private var unwanted: Int64 = 0
    /// The number of level requests since the signal was judged.
    private var levelsAsked = 0
    /// Sound from before this instant is not measured. If nil, all sound is measured.
    private var measuredFrom: Instant?

    /// Gaps in the measured sound.
    private struct Losses: Equatable {
        var xruns: Int
        var missed: Int64
        var skipped: Int64
    }

    /// Lost frames are shown for this long.
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

    /// Changes the filter.
    /// - Throws: an error if the filter is impossible at the card's rate; then nothing changes.
    func setFilter(_ filter: FilterRequest) throws {
        design = try FilterDesign(filter, rateHz: ring.format.rateHz)
        designFault = nil
    }

    /// The loudness of each channel over the last 0.1 s, as the card delivered it.
    var levels: [Level] {
        // A caller that requests levels will do so again soon.
        reader.isPrompt = true
        levelsAsked += 1
        measure()
        return meter.levels.map { Level(peak: $0.peakDBFS, rms: $0.rmsDBFS) }
    }

    /// Judges the signal since the last call.
    /// - Returns: whether the level of a channel has begun to fall, perhaps because its gain was changed.
    func judge(now: Instant) -> Bool {
        if levelsAsked == 0 { reader.isPrompt = false }
        levelsAsked = 0
        // If sound is lost during this measurement, the next batch contains that gap too.
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

    func gainChanged() {
        measure()
        meter.dropHalves()
        signal.forgetLevels()
    }

    /// Skips the judgement of all sound since the last call, and of the sound up to an instant.
    func passOver(upTo end: Instant? = nil) {
        measure()
        _ = meter.drain()
        interruptLevels()
        measuredFrom = end
    }

    private func interruptLevels() {
        meter.dropHalves()
        signal.interruptLevels()
    }

    /// Measures the sound since the last call, without frames that are already overwritten.
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

    /// Compares the card's measured rate with its stated rate.
    func judgeRate() { rate.add(ring.measuredRate) }

    /// The fault of a wrong rate, or nil if the rate is right or not known yet.
    var rateFault: Fault? { rate.fault(card: card) }

    /// The faults of the signal, the longest lasting first.
    func signalFaults(now: Instant, _ past: PastWords) -> [Fault] {
        signal.faults(now: now, card: card, past: past)
    }

    /// The fault of sound lost since the last call, or nil.
    /// - Parameter areMissedWanted: whether a take needed the frames for which the ring had no room.
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
