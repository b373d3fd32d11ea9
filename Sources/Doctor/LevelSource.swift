import Filters
package import Ring
import SoundCard
package import Takes
package import Transport

/// Where the levels of the card's sound come from.
package protocol LevelSource: AnyObject {
    /// What the card delivers.
    var format: StreamFormat { get }
    /// The levels of the next 0.1 s or so, a channel each; nil: none before `limit`.
    /// - Throws: why there are none any more, a sentence.
    func next(until limit: Instant) throws(LevelFailure) -> [Level]?
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

    package var format: StreamFormat { capture.grant.format }

    private static let interval = Duration.milliseconds(100)

    /// Opens the card and starts it.
    package init(
        _ request: CaptureRequest, on card: any CaptureSource = CaptureCard(), clock: any Clock
    ) throws(LevelFailure) {
        self.clock = clock
        due = clock.now()
        do {
            capture = try TestCapture(request, on: card, now: due)
        } catch {
            throw LevelFailure("\(error)")
        }
    }

    package func next(until limit: Instant) throws(LevelFailure) -> [Level]? {
        while true {
            if case .failed(let sentence) = capture.outcome(at: clock.now()) { throw LevelFailure(sentence) }
            let now = clock.now()
            if now >= due, let bytes = capture.latest(Self.interval) {
                // What was missed since the last call, as the caller was late, is not made up for.
                due = max(due + Self.interval, now)
                return SignalSummary(of: bytes, format: format).channels.map {
                    Level(peak: SignalSummary.dBFS($0.peak), rms: SignalSummary.dBFS($0.alternatingRMS))
                }
            }
            guard now < limit else { return nil }
            capture.pause()
        }
    }
}
