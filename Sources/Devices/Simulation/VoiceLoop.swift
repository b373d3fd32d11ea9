internal import CLinux
import Glibc
import Ring
import Takes

/// What the synthetic voice's thread does: at each period, bring the ring up to the clock, and leave stamps.
///
/// It has no buffer that could run over: a loop that wakes late delivers all that is due. One thread calls `deliver` and `run`;
/// any thread may call `requestStop`.
final class VoiceLoop: @unchecked Sendable {
    private let ring: Ring
    private let clock: any Clock
    private let stopEvent: Int32
    private let began: Instant
    private var voice: Voice
    private let gain: VoiceGain
    private var ramp: GainRamp
    /// Frames made since it began, those included that the ring had no room for.
    private var made: Int64 = 0
    /// The ring's position.
    private var head: RingPosition
    private var dropped: Int64 = 0

    /// A voice that begins now.
    /// - Throws: `SimulationError` if the system grants no event.
    init(ring: Ring, gain: VoiceGain = VoiceGain(), clock: any Clock) throws(SimulationError) {
        self.ring = ring
        self.gain = gain
        ramp = GainRamp(at: gain.factor, rateHz: ring.format.rateHz)
        self.clock = clock
        voice = Voice(rateHz: ring.format.rateHz)
        began = clock.now()
        head = ring.position
        stopEvent = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard stopEvent >= 0 else {
            let reason = unsafe String(cString: strerror(errno))
            throw SimulationError("capture: \(SyntheticVoice.card): cannot make an event: \(reason)")
        }
        ring.stamp(Stamp(position: head, instant: began, kind: .started))
    }

    deinit {
        close(stopEvent)
    }

    /// Makes `run` return.
    func requestStop() {
        eventfd_write(stopEvent, 1)
    }

    /// Delivers until a stop is requested.
    func run() {
        var stop = pollfd(fd: stopEvent, events: Int16(POLLIN), revents: 0)
        let pause = Int32(SyntheticVoice.period.nanoseconds / 1_000_000)
        // Safe: the descriptor outlives the call.
        while unsafe poll(&stop, 1, pause) <= 0 {
            deliver(upTo: clock.now())
        }
        stampDropped()
    }

    /// Writes every frame that is due by `now`, period by period: a reader sees how far a loop is that is late. What the ring has
    /// no room for is dropped, and a stamp before the next frames counts it.
    func deliver(upTo now: Instant) {
        let due = ring.format.frames(in: now - began)
        let period = max(1, ring.format.frames(in: SyntheticVoice.period))
        let isWhole = dropped == 0
        while made < due {
            let room = min(ring.writableFrames(), due - made, period)
            guard room > 0 else { return drop(due - made) }
            stampDropped()
            // Safe: the ring's own memory, filled before it is committed.
            let piece = unsafe ring.writable(room)
            let count = unsafe fill(piece)
            ring.commit(count)
            head = head + count
            made += count
            if isWhole { ring.stamp(Stamp(position: head, instant: instant)) }
        }
    }

    /// When the next frame is due.
    private var instant: Instant { began + ring.format.duration(ofFrames: made) }

    /// Fills `piece` with the voice, the same in every channel; what the gain makes too loud is clipped.
    /// - Returns: how many frames.
    private func fill(_ piece: UnsafeMutableRawBufferPointer) -> Int64 {
        let channels = ring.format.channels
        let count = piece.count / ring.format.bytesPerFrame
        let factor = gain.factor
        var place = 0
        for _ in 0..<count {
            let sample = voice.next() * ramp.next(toward: factor)
            let value = Int32(max(-1, min(1, sample)) * 8_388_607)
            for _ in 0..<channels {
                // Safe: 3 bytes a sample, as many as the frames take.
                unsafe piece[place] = UInt8(truncatingIfNeeded: value)
                unsafe piece[place + 1] = UInt8(truncatingIfNeeded: value >> 8)
                unsafe piece[place + 2] = UInt8(truncatingIfNeeded: value >> 16)
                place += 3
            }
        }
        return Int64(count)
    }

    private func drop(_ count: Int64) {
        for _ in 0..<count { _ = voice.next() }
        made += count
        dropped += count
        ring.miss(count)
    }

    private func stampDropped() {
        guard dropped > 0 else { return }
        ring.stamp(Stamp(position: head, instant: instant, kind: .stall, lost: dropped))
        dropped = 0
    }
}
