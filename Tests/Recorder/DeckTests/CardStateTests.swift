import Ring
import Takes
import Testing
import Transport

@testable import Deck

/// The rows of the card's state table.
@Suite struct CardStateTests {
    private let now = Instant(nanoseconds: 50_000_000_000)
    private let request = CaptureRequest()
    private let format = StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16)
    private let ring: Ring

    init() throws { ring = Ring(format: format, holding: .seconds(1), periodFrames: 800) }

    private var grant: CaptureGrant {
        CaptureGrant(card: "card:Mic", name: "Mic", format: format, periodFrames: 800, bufferFrames: 3200)
    }

    private func deliver(_ frames: Int64 = 1) { ring.commit(frames) }

    /// A card that was opened at `now` and has delivered nothing yet.
    private func starting(_ wanted: CaptureRequest? = nil) -> CardState {
        var state = CardState(wanted: wanted ?? request)
        _ = state.need(now: now)
        _ = state.opened(grant, ring, from: ring.position, receivedBefore: ring.delivered, now: now)
        return state
    }

    private func listening(_ wanted: CaptureRequest? = nil) -> CardState {
        var state = starting(wanted)
        deliver()
        _ = state.tick(now: now)
        return state
    }

    @Test func `a card that is needed is opened once, and listens with its first frame`() {
        var state = CardState(wanted: request)
        #expect(state.obstacle(now: now)?.message == "capture: auto: the card is being opened")
        #expect(state.need(now: now) == [.open(request)])
        #expect(state.need(now: now) == [])
        #expect(
            state.opened(grant, ring, from: .start, receivedBefore: ring.delivered, now: now) == [.answered])
        #expect(state.obstacle(now: now) == nil && !state.isListening)
        #expect(state.tick(now: now) == [])
        deliver()
        #expect(state.tick(now: now) == [.delivers])
        #expect(state.isListening && state.fault(now: now) == nil)
        #expect(state.position == 1)
    }

    @Test func `a card that came just now is tried until it opens, with other channels after that`() {
        var state = CardState(wanted: request)
        _ = state.need(now: now)
        _ = state.failed("capture: no card", now: now)
        state.expect(grant)
        #expect(state.cardsChanged(now: now + .seconds(1)) == [.open(request.again(grant))])
        let refusal = "capture: Permission denied"
        var asItIs = request
        asItIs.expected = grant.references
        for milliseconds in stride(from: 1000, to: 3000, by: 100) {
            let instant = now + .milliseconds(milliseconds)
            if milliseconds >= 1500 { #expect(state.failed(refusal, now: instant) == [.open(asItIs)]) }
            #expect(state.failed(refusal, now: instant) == [.answered])
            #expect(state.deadline(now: instant) == instant + .milliseconds(100))
            #expect(state.tick(now: instant + .milliseconds(99)) == [])
            #expect(state.tick(now: instant + .milliseconds(100)) == [.open(request.again(grant))])
        }
        #expect(state.failed(refusal, now: now + .seconds(3)) == [.open(asItIs)])
        #expect(state.failed(refusal, now: now + .seconds(3)) == [.answered])
        #expect(state.deadline(now: now + .seconds(3)) == now + .seconds(5))
    }

    @Test func `a card that is listened to for its live channels may take a second longer to open`() {
        var state = CardState(wanted: CaptureRequest(channels: .live))
        _ = state.need(now: now)
        #expect(state.deadline(now: now) == now + .seconds(3))
        #expect(state.fault(now: now + .milliseconds(2999)) == nil)
        #expect(state.fault(now: now + .seconds(3))?.code == .noCard)
    }

    @Test func `a take that waits for its card goes on with the same channels`() {
        var state = CardState(wanted: CaptureRequest(channels: .live))
        _ = state.need(now: now)
        var grant = self.grant
        grant.layout = ChannelLayout(keeping: [2], of: 2)
        _ = state.opened(grant, ring, from: ring.position, receivedBefore: ring.delivered, now: now)
        state.expect(grant)
        _ = state.ended(.cardLost("capture: card:Mic: the card is gone"), now: now)
        #expect(state.tick(now: now + CardState.retry) == [.open(CaptureRequest().again(grant))])
    }

    @Test func `opening that lasts is a fault after two seconds, and no answer is awaited twice`() {
        var state = CardState(wanted: request)
        _ = state.need(now: now)
        #expect(state.fault(now: now + .milliseconds(1999)) == nil)
        #expect(state.fault(now: now + .seconds(2))?.message == "capture: auto: does not answer when it is opened")
        #expect(state.retry(now: now + .seconds(2)) == [])
    }

    @Test func `a card that cannot be opened is tried again every two seconds, and its fault stays meanwhile`() {
        var state = CardState(wanted: request)
        _ = state.need(now: now)
        #expect(state.failed("capture: no card", now: now) == [.answered])
        #expect(state.fault(now: now)?.message == "capture: no card")
        #expect(state.tick(now: now + .milliseconds(1999)) == [])
        #expect(state.tick(now: now + .seconds(2)) == [.open(request)])
        #expect(state.fault(now: now + .seconds(2))?.message == "capture: no card")
        #expect(state.position == nil)
    }

    @Test func `a card that ends by itself is closed, and opened again at once unless it was fresh`() {
        var state = listening()
        let later = now + .seconds(10)
        #expect(state.ended(.cardLost("capture: it is gone"), now: later) == [.close, .lost])
        #expect(state.tick(now: later + .milliseconds(99)) == [])
        #expect(state.tick(now: later + CardState.quickRetry) == [.open(request)])
        state = listening()
        _ = state.ended(.failed("capture: it fails"), now: now + .seconds(1))
        #expect(state.tick(now: now + .milliseconds(2999)) == [])
        #expect(state.tick(now: now + .seconds(3)) == [.open(request)])
        // If a present card fails, its position stands still, so that the watchdog can see it.
        #expect(state.position == 1)
        #expect(state.ended(.cardLost("again"), now: now) == [])
    }

    @Test func `a card that ceases to deliver stalls after two seconds, and listens again with a frame`() {
        var state = listening()
        #expect(state.tick(now: now + .milliseconds(1999)) == [])
        #expect(state.isListening)
        _ = state.tick(now: now + .seconds(2))
        #expect(!state.isListening)
        #expect(
            state.fault(now: now + .seconds(2))?.message
                == "capture: card:Mic: delivers nothing: unplug it and plug it in again")
        deliver()
        _ = state.tick(now: now + .seconds(3))
        #expect(state.isListening && state.fault(now: now + .seconds(3)) == nil)
    }

    @Test func `a take waits for its own card, and takes what it has if that goes on being refused`() {
        var state = listening()
        state.expect(grant)
        _ = state.ended(.cardLost("capture: it is gone"), now: now + .seconds(10))
        let again = state.tick(now: now + .seconds(11))
        guard case .open(let wanted)? = again.first else {
            Issue.record("\(again)")
            return
        }
        #expect(wanted.rateHz == 8000)
        #expect(state.failed("capture: busy", now: now) == [.answered])
        _ = state.tick(now: now + .seconds(20))
        let freely = state.failed("capture: busy", now: now + .seconds(20))
        guard case .open(let free)? = freely.first else {
            Issue.record("\(freely)")
            return
        }
        #expect(free.channels == nil && free.expected == wanted.expected)
        #expect(wanted.channels == .layout(ChannelLayout(all: 1)))
        #expect(state.failed("capture: busy", now: now + .seconds(21)) == [.answered])
    }

    @Test func `a card that goes on being refused is asked for its own channels first, and for its own rate last`() {
        var state = listening(CaptureRequest(rateHz: 8000))
        state.expect(grant)
        _ = state.ended(.cardLost("capture: it is gone"), now: now + .seconds(10))
        _ = state.tick(now: now + .seconds(11))
        _ = state.failed("capture: too few channels", now: now)
        _ = state.tick(now: now + .seconds(20))
        var asked: [CaptureRequest] = []
        for message in ["capture: too few channels", "capture: no such rate"] {
            guard case .open(let request)? = state.failed(message, now: now + .seconds(20)).first else { continue }
            asked.append(request)
        }
        #expect(asked.map(\.channels) == [nil, nil] && asked.map(\.rateHz) == [8000, nil])
        #expect(state.failed("capture: no such rate", now: now + .seconds(21)) == [.answered])
        #expect(state.fault(now: now + .seconds(21))?.message == "capture: too few channels", "as long as it is so")
    }

    @Test func `other channels of a card are not those of the take`() {
        func grant(_ kept: [Int], of count: Int) -> CaptureGrant {
            var other = self.grant
            other.layout = ChannelLayout(keeping: kept, of: count)
            return other
        }
        for (back, isOther) in [(grant([1], of: 1), true), (grant([2], of: 4), false)] {
            var state = listening()
            state.expect(grant([2], of: 2))
            _ = state.ended(.cardLost("capture: it is gone"), now: now + .seconds(10))
            _ = state.tick(now: now + .seconds(11))
            _ = state.opened(back, ring, from: .start, receivedBefore: 0, now: now + .seconds(11))
            #expect(state.hasOtherChannels == isOther)
        }
    }

    @Test func `no take begins with a better card before it delivers, or before the other is open again`() {
        var state = listening()
        let other = CardReference.cardID("Other")
        _ = state.move(to: [other], now: now)
        #expect(state.isTrying && state.obstacle(now: now) != nil)
        #expect(state.opened(grant, ring, from: ring.position, receivedBefore: ring.delivered, now: now) == [])
        var deaf = state
        #expect(state.isTrying && state.obstacle(now: now) != nil)
        deliver()
        #expect(state.tick(now: now) == [.delivers, .answered])
        #expect(!state.isTrying && state.obstacle(now: now) == nil)

        let later = now + .milliseconds(2500)
        #expect(deaf.isTrying && deaf.fault(now: later) == nil, "its capture ends soon")
        #expect(deaf.fault(now: now + .seconds(3)) != nil)
        _ = deaf.ended(.failed("capture: it delivers nothing"), now: later)
        #expect(!deaf.isTrying && deaf.obstacle(now: later) != nil)
        #expect(
            deaf.opened(grant, ring, from: ring.position, receivedBefore: ring.delivered, now: later) == [.answered])
        #expect(deaf.obstacle(now: later) == nil)
    }

    @Test func `a card that is released is closed, and one that is closed for the player is so even while it is away`()
    {
        for isForPlayer in [false, true] {
            var state = listening()
            #expect(state.release(forPlayer: isForPlayer) == [.close])
            #expect(state.open == nil && state.position == nil && state.fault(now: now) == nil)
            // A late answer of the worker has no effect.
            #expect(state.opened(grant, ring, from: .start, receivedBefore: 0, now: now) == [])
            #expect(state.need(now: now) == [.open(request)])
            #expect(state.failed("capture: no card", now: now) == [.answered])
            #expect(state.release(forPlayer: isForPlayer) == (isForPlayer ? [.close] : []))
        }
    }
}
