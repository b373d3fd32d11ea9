import Filters
package import Ring
import SoundCard
package import Takes
package import Transport

/// The source of the levels of a card's sound.
package protocol LevelSource: AnyObject {
    /// The stable id of the card, or nil if the id is not known.
    var card: String? { get }
    /// The format that the card delivers.
    var format: StreamFormat { get }
    /// The numbers of the card's channels that have levels, in order.
    var channelNumbers: [Int] { get }
    /// The levels of about the next 0.1 s, one for each channel, or nil if none come before `limit`.
    /// - Throws: `LevelFailure` if no more levels will come.
    func next(until limit: Instant) throws(LevelFailure) -> [Level]?
    /// A sentence about a card with a wrong rate, or nil if the rate is right or not known.
    var rateComplaint: String? { get }
    /// A sentence about a signal that fell and stayed low, or nil if it did not fall or was not watched.
    var fallComplaint: String? { get }
}

/// Why there is no sound, in one sentence.
package struct LevelFailure: Error, Equatable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }
}

/// The levels of a card that no recorder has open.
package final class CardLevels: LevelSource {
    private let capture: TestCapture
    private let clock: any Clock
    private var due: Instant
    /// The number of frames that were measured.
    private var measuredFrames: Int64 = 0

    package var card: String? { capture.grant.card }
    package var format: StreamFormat { capture.grant.format }
    package var channelNumbers: [Int] { capture.grant.layout.kept }

    private static let interval = Duration.milliseconds(100)
    /// This much sound is measured twice, so that a tap cannot fall between two measurements.
    private static let overlap = Duration.milliseconds(250)

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

    /// A fall can be detected only after minutes of sound.
    package var fallComplaint: String? { nil }

    package func next(until limit: Instant) throws(LevelFailure) -> [Level]? {
        while true {
            if case .failed(let sentence) = capture.outcome(at: clock.now()) { throw LevelFailure(sentence) }
            let now = clock.now()
            // All sound since the last call, however late this call or the card's delivery is, as far as the ring still
            // holds it.
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
