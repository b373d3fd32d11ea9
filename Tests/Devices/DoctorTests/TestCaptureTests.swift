import Ring
import Takes
import Testing

@testable import Doctor

/// A card that delivers the given number of frames at once, and then nothing.
final class PromptCard: CaptureSource {
    struct Refusal: Error {}

    let format = StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16)
    let endedFileDescriptor: Int32 = -1
    var end: CaptureEnd?
    var frames: Int
    var stops = 0
    var cannotStart = false
    /// Whether a reader asked for prompt frames when the card was started.
    private(set) var wasPrompt = false
    /// The real rate of the frames in Hz, or nil if the card leaves no stamps.
    private let trueHz: Int64?

    init(frames: Int, trueHz: Int64? = nil) {
        self.frames = frames
        self.trueHz = trueHz
    }

    func open(_ request: CaptureRequest) throws -> CaptureGrant {
        CaptureGrant(card: "card:Prompt", name: "Prompt", format: format, periodFrames: 800, bufferFrames: 8000)
    }

    func start(into ring: Ring) throws {
        if cannotStart { throw Refusal() }
        wasPrompt = ring.demand.isPrompt()
        if let trueHz {
            ring.stamp(Stamp(position: 0, instant: Instant(nanoseconds: 0), kind: .started))
            for count in stride(from: 800, through: Int64(frames), by: 800) {
                ring.stamp(
                    Stamp(
                        position: RingPosition(count), instant: Instant(nanoseconds: count * 1_000_000_000 / trueHz)))
            }
        }
        var left = Int64(frames)
        while left > 0 {
            let piece = ring.writable(min(left, ring.maximumWriteFrames))
            for index in piece.indices { piece[index] = UInt8(index & 0x3f) }
            let count = Int64(piece.count / format.bytesPerFrame)
            ring.commit(count)
            left -= count
        }
    }

    func stop() { stops += 1 }
}

@Suite struct TestCaptureTests {
    private let start = Instant(nanoseconds: 0)

    @Test func `two seconds are recorded, and the card is closed after`() throws {
        let card = PromptCard(frames: 20_000)
        do {
            let capture = try TestCapture(CaptureRequest(), on: card, now: start)
            guard case .sound(let bytes, let format)? = capture.outcome(at: start) else {
                Issue.record("nothing was recorded")
                return
            }
            #expect(bytes.count == 32_000)
            #expect(format == card.format)
            #expect(card.stops == 0)
        }
        #expect(card.stops == 1)
    }

    @Test(arguments: [
        (Int64(8000), false), (8200, false), (7800, false), (5333, true), (12000, true), (nil, false),
    ])
    func `a rate that is far from what the card states is seen in two seconds`(trueHz: Int64?, isSeen: Bool) throws {
        let capture = try TestCapture(CaptureRequest(), on: PromptCard(frames: 20_000, trueHz: trueHz), now: start)
        #expect((capture.rate?.isWrong ?? false) == isSeen)
    }

    @Test func `the card is read as often as it can be`() throws {
        let card = PromptCard(frames: 20_000)
        let capture = try TestCapture(CaptureRequest(), on: card, now: start)
        #expect(card.wasPrompt && capture.rate == nil)
    }

    @Test func `a card that delivers too little has failed after five seconds, not before`() throws {
        let capture = try TestCapture(CaptureRequest(), on: PromptCard(frames: 15_999), now: start)
        #expect(capture.outcome(at: start + .milliseconds(4999)) == nil)
        guard case .failed(let sentence)? = capture.outcome(at: start + .seconds(5)) else {
            Issue.record("it has not failed")
            return
        }
        #expect(sentence.hasPrefix("Prompt: delivered only 15999 frames in 5 s"))
    }

    @Test func `a card that ends by itself is reported with its own sentence`() throws {
        let card = PromptCard(frames: 100)
        let capture = try TestCapture(CaptureRequest(), on: card, now: start)
        card.end = .cardLost("capture: hw:CARD=Prompt: the card is gone")
        guard case .failed("capture: hw:CARD=Prompt: the card is gone")? = capture.outcome(at: start) else {
            Issue.record("it has not failed")
            return
        }
    }

    @Test func `a card that cannot be started is closed`() {
        let card = PromptCard(frames: 100)
        card.cannotStart = true
        #expect(throws: PromptCard.Refusal.self) { try TestCapture(CaptureRequest(), on: card, now: start) }
        #expect(card.stops > 0)
    }
}
