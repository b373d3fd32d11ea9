internal import CLinux
import Glibc
import Ring
import Takes

/// The loop of the synthetic voice's thread: in each period it writes the frames that are due into the ring, and leaves
/// stamps.
///
/// It has no buffer that could overrun: a loop that wakes late delivers all frames that are due. One thread calls
/// `deliver` and `run`; any thread may call `requestStop`.
final class VoiceLoop: @unchecked Sendable {
    private let ring: Ring
    private let clock: any Clock
    private let stopEvent: Int32
    private let began: Instant
    private var voice: Voice
    private let gain: VoiceGain
    private var ramp: GainRamp
    /// Frames generated since the start, including those that did not fit into the ring.
    private var made: Int64 = 0
    private var head: RingPosition
    private var dropped: Int64 = 0

    /// - Throws: `SimulationError` if the system cannot create an event.
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
            throw SimulationError("capture: \(SyntheticVoice.card): cannot make an event: \(SystemError(errno))")
        }
        ring.stamp(Stamp(position: head, instant: began, kind: .started))
    }

    deinit {
        close(stopEvent)
    }

    func requestStop() {
        eventfd_write(stopEvent, 1)
    }

    func run() {
        var stop = pollfd(fd: stopEvent, events: Int16(POLLIN), revents: 0)
        let pause = Int32(SyntheticVoice.period.nanoseconds / 1_000_000)
        // Safe: the descriptor outlives the call.
        while unsafe poll(&stop, 1, pause) <= 0 {
            deliver(upTo: clock.now())
        }
        stampDropped()
    }

    /// Writes all frames that are due by `now`, one period at a time, so that readers can follow a late loop. Frames
    /// that do not fit into the ring are dropped, and a stamp before the next frames counts them.
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

    /// The time when the next frame is due.
    private var instant: Instant { began + ring.format.duration(ofFrames: made) }

    /// Fills `piece` with the voice, the same in every channel. Samples that the gain makes too loud are clipped.
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
                // Safe: the bytes are within `piece`, because a sample has 3 bytes and `count` whole frames fit.
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
