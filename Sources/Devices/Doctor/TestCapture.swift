import Glibc
package import Ring
import SoundCard
package import Takes

/// A card that is opened only to record two seconds from it into memory.
package final class TestCapture {
    /// The result.
    package enum Outcome: Sendable {
        case sound([UInt8], StreamFormat)
        /// The card is present and delivers nothing, or less than it should: a sentence.
        case failed(String)
        /// No sound was recorded, for this reason.
        case skipped(String)
        /// The sound was judged already.
        case judged([Finding])
    }

    /// How much sound is needed.
    package static let length = Duration.seconds(2)
    /// A card that has not delivered as much by then fails.
    package static let patience = Duration.seconds(5)

    /// What the card granted.
    package let grant: CaptureGrant
    private let card: any CaptureSource
    private let ring: Ring
    /// Has the card be read as often as it can be.
    private let reader: RingReader
    private let opened: Instant

    /// Opens the card and starts it.
    /// - Throws: what the card throws.
    package init(_ request: CaptureRequest, on card: any CaptureSource = CaptureCard(), now: Instant) throws {
        self.card = card
        opened = now
        do {
            grant = try card.open(request)
            ring = Ring(format: grant.format, holding: Self.length * 2, periodFrames: grant.periodFrames)
            ring.prefault()
            reader = RingReader(ring, isPrompt: true)
            try card.start(into: ring)
        } catch {
            card.stop()
            throw error
        }
    }

    deinit { card.stop() }

    /// Closes the card.
    package func stop() { card.stop() }

    /// The result, once there is enough sound or there never will be; nil: not yet.
    package func outcome(at now: Instant) -> Outcome? {
        switch card.end {
        case .cardLost(let sentence), .failed(let sentence): return .failed(sentence)
        case nil: break
        }
        if let bytes = ring.latest(Self.length) { return .sound(bytes, ring.format) }
        guard now - opened >= Self.patience else { return nil }
        return .failed(Self.tooLittle(ring.position.count, of: grant.name))
    }

    /// The sentence for a card that delivers less than it should.
    package static func tooLittle(_ frames: Int64, of name: String) -> String {
        "\(name): delivered only \(frames) frames in \(patience.components.seconds) s: unplug it and plug it in again"
    }

    /// How fast the card runs; nil: that is not known. Two seconds show only a rate that is far from what the card states.
    var rate: RateMeasure? {
        if let rate = ring.measuredRate { return rate }
        // A card that is fast has delivered enough before the longer of them is over.
        let rates = [1500, 800].lazy.compactMap { [ring] in
            ring.measuredRate(over: .milliseconds($0), settling: .milliseconds(400))
        }
        return rates.first.flatMap { $0.offsetPPM.magnitude >= Self.leastRoughPPM ? $0 : nil }
    }

    /// The first frames of a capture may come some 20 ms late, which looks like less than this.
    private static let leastRoughPPM = 50_000.0

    /// Frames that the card delivered.
    var deliveredFrames: Int64 { ring.position.count }

    /// The sound of the last `duration`, of two seconds at most; nil: so much was not sampled yet.
    func latest(_ duration: Duration) -> [UInt8]? { ring.latest(duration) }

    /// Waits for a moment, or until the capture ends by itself.
    func pause() {
        var descriptor = pollfd(fd: card.endedFileDescriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&descriptor, 1, 20)
    }

    /// Waits for the result. For a process that has nothing else to do.
    package func waitForOutcome(clock: any Clock, brake: Brake = Brake()) -> Outcome {
        while true {
            if brake.isPulled { return .skipped(Brake.reason) }
            if let outcome = outcome(at: clock.now()) { return outcome }
            pause()
        }
    }
}
