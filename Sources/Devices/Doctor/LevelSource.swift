import Filters
package import Ring
import SoundCard
package import Takes
package import Transport

/// Where the levels of the card's sound come from.
package protocol LevelSource: AnyObject {
    /// The stable id of the card, or nil if the id is not known.
    var card: String? { get }
    /// What the card delivers.
    var format: StreamFormat { get }
    /// The numbers of the card's channels that have levels, in their order.
    var channelNumbers: [Int] { get }
    /// The levels of the next 0.1 s or so, a channel each; nil: none before `limit`.
    /// - Throws: why there are none any more, a sentence.
    func next(until limit: Instant) throws(LevelFailure) -> [Level]?
    /// A sentence about a card whose rate is wrong, or nil if the rate is right or not known.
    var rateComplaint: String? { get }
    /// The sentence about a signal that fell and stayed low, or nil if it did not fall or was not watched.
    var fallComplaint: String? { get }
}

/// Why there is no sound, in one sentence.
package struct LevelFailure: Error, Equatable, CustomStringConvertible {
    package var description: String

    /// A sentence.
    package init(_ description: String) { self.description = description }
}

/// The levels of a card that no recorder has open.
package final class CardLevels: LevelSource {
    private let capture: TestCapture
    private let clock: any Clock
    private var due: Instant
    /// So many frames were measured.
    private var measuredFrames: Int64 = 0

    package var card: String? { capture.grant.card }
    package var format: StreamFormat { capture.grant.format }
    package var channelNumbers: [Int] { capture.grant.layout.kept }

    private static let interval = Duration.milliseconds(100)
    /// So much is measured twice, rather than that a tap falls between two measurements.
    private static let overlap = Duration.milliseconds(250)

    /// Opens the card and starts it.
    package init(
        _ request: CaptureRequest, on card: any CaptureSource = CaptureCard(), clock: any Clock
    ) throws(LevelFailure) {
        self.clock = clock
        let now = clock.now()
        due = now
        do {
            capture = try TestCapture(request, on: card, now: now)
        } catch {
            throw LevelFailure("\(error)")
        }
    }

    package var rateComplaint: String? {
        guard let rate = capture.rate, rate.isWrong else { return nil }
        return "\(capture.grant.card): \(rate.complaint)"
    }

    /// It needs minutes of sound.
    package var fallComplaint: String? { nil }

    package func next(until limit: Instant) throws(LevelFailure) -> [Level]? {
        while true {
            if case .failed(let sentence) = capture.outcome(at: clock.now()) { throw LevelFailure(sentence) }
            let now = clock.now()
            // All since the last call, however late this one is or the card delivered it, as far as the ring has it.
            let delivered = capture.deliveredFrames
            let fresh = format.duration(ofFrames: delivered - measuredFrames)
            if now >= due, fresh >= Self.interval,
                let bytes = capture.latest(min(TestCapture.length, fresh + Self.overlap))
                    ?? capture.latest(min(TestCapture.length, fresh))
            {
                due = now + Self.interval
                measuredFrames = delivered
                return SignalSummary(of: bytes, format: format).channels.map {
                    Level(peak: SignalSummary.dBFS($0.peak), rms: SignalSummary.dBFS($0.alternatingRMS))
                }
            }
            guard now < limit else { return nil }
            capture.pause()
        }
    }
}
