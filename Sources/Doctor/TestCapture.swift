import Glibc
package import Ring
import SoundCard
package import Takes

/// A card that is opened only to hear two seconds of it.
package final class TestCapture {
    /// What came of it.
    package enum Heard: Sendable {
        case sound([UInt8], StreamFormat)
        /// The card is there and says nothing, or less than it should: a sentence.
        case failed(String)
        /// It was not listened to, because…
        case skipped(String)
        /// It was listened to, and this is what to think of it.
        case judged([Finding])
    }

    /// How long is listened.
    package static let length = Duration.seconds(2)
    /// A card that has not delivered as much by then fails.
    package static let patience = Duration.seconds(5)

    /// What the card granted.
    package let grant: CaptureGrant
    private let card: any CaptureSource
    private let ring: Ring
    private let opened: Instant

    /// Opens the card and starts to listen.
    /// - Throws: what the card throws.
    package init(_ request: CaptureRequest, on card: any CaptureSource = CaptureCard(), now: Instant) throws {
        self.card = card
        opened = now
        do {
            grant = try card.open(request)
            ring = Ring(format: grant.format, holding: Self.length * 2, periodFrames: grant.periodFrames)
            try card.start(into: ring)
        } catch {
            card.stop()
            throw error
        }
    }

    deinit { card.stop() }

    /// Closes the card.
    package func stop() { card.stop() }

    /// What was heard, once there is enough of it or there never will be; nil: not yet.
    package func heard(at now: Instant) -> Heard? {
        switch card.end {
        case .cardLost(let sentence), .failed(let sentence): return .failed(sentence)
        case nil: break
        }
        if let bytes = ring.latest(Self.length) { return .sound(bytes, ring.format) }
        guard now - opened >= Self.patience else { return nil }
        return .failed(Self.tooLittle(ring.position, of: grant.name))
    }

    /// What to say of a card that delivers less than it should.
    package static func tooLittle(_ frames: Int64, of name: String) -> String {
        "\(name): delivered only \(frames) frames in \(patience.components.seconds) s: unplug it and plug it in again"
    }

    /// Waits until enough is heard. For a process that has nothing else to do.
    package func listen(clock: any Clock) -> Heard {
        while true {
            if let heard = heard(at: clock.now()) { return heard }
            var descriptor = pollfd(fd: card.endedFileDescriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&descriptor, 1, 50)
        }
    }
}

extension Ring {
    /// The bytes of the last `duration`; nil: so much was not written yet. To be well below what the ring holds.
    package func latest(_ duration: Duration) -> [UInt8]? {
        let count = format.frames(in: duration)
        var first = position - count
        guard first >= 0 else { return nil }
        let end = first + count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(count) * format.bytesPerFrame)
        while first < end {
            // Safe: what is copied is younger than half the ring, and stays while it is.
            unsafe withFrames(from: first, atMost: end - first) { unsafe bytes.append(contentsOf: $0) }
            first = end - count + Int64(bytes.count / format.bytesPerFrame)
        }
        return bytes
    }
}
