import Glibc
package import Ring
import SoundCard
package import Takes

/// A card that is opened only to record two seconds into memory.
package final class TestCapture {
    package enum Outcome: Sendable {
        case sound([UInt8], StreamFormat)
        /// The card is present and delivers nothing, or too little. The text is one sentence.
        case failed(String)
        /// Nothing was recorded, for this reason.
        case skipped(String)
        case judged([Finding])
    }

    /// The length of sound that is needed.
    package static let length = Duration.seconds(2)
    /// A card that has not delivered this length within this time fails.
    package static let patience = Duration.seconds(5)

    package let grant: CaptureGrant
    private let card: any CaptureSource
    private let ring: Ring
    /// A prompt reader makes the capture thread read the card as often as possible.
    private let reader: RingReader
    private let opened: Instant

    /// Opens the card and starts it.
    /// - Throws: the errors of the card.
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

    package func stop() { card.stop() }

    /// The result once there is enough sound, or there can never be enough; nil before that.
    package func outcome(at now: Instant) -> Outcome? {
        switch card.end {
        case .cardLost(let sentence), .failed(let sentence): return .failed(sentence)
        case nil: break
        }
        if let bytes = ring.latest(Self.length) { return .sound(bytes, ring.format) }
        guard now - opened >= Self.patience else { return nil }
        return .failed(Self.tooLittle(ring.position.count, of: grant.name))
    }

    /// The sentence for a card that delivers too little.
    package static func tooLittle(_ frames: Int64, of name: String) -> String {
        "\(name): delivered only \(frames) frames in \(patience.components.seconds) s: unplug it and plug it in again"
    }

    /// The measured rate of the card, or nil if it is not known. Two seconds reveal only a rate that is far from the
    /// stated one.
    var rate: RateMeasure? {
        if let rate = ring.measuredRate { return rate }
        // A fast card has delivered enough before the longer of these times is over.
        let rates = [1500, 800].lazy.compactMap { [ring] in
            ring.measuredRate(over: .milliseconds($0), settling: .milliseconds(400))
        }
        return rates.first.flatMap { $0.offsetPPM.magnitude >= Self.leastRoughPPM ? $0 : nil }
    }

    /// The first frames of a capture may come some 20 ms late, which looks like a smaller deviation than this.
    private static let leastRoughPPM = 50_000.0

    var deliveredFrames: Int64 { ring.position.count }

    /// The sound of the last `duration`, which is at most two seconds, or nil if not enough was sampled yet.
    func latest(_ duration: Duration) -> [UInt8]? { ring.latest(duration) }

    /// Waits for 20 ms, or until the capture ends by itself.
    func pause() {
        var descriptor = pollfd(fd: card.endedFileDescriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&descriptor, 1, 20)
    }

    /// Blocks until the result is available. For a process that has nothing else to do.
    package func waitForOutcome(clock: any Clock, brake: Brake = Brake()) -> Outcome {
        while true {
            if brake.isPulled { return .skipped(Brake.reason) }
            if let outcome = outcome(at: clock.now()) { return outcome }
            pause()
        }
    }
}
