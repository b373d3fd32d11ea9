import CALSA
import Glibc
import Takes

/// The frames between the player and a PCM that is settled: queued, counted, taken back. Nothing here blocks.
@safe struct PlaybackQueue {
    /// So much is never taken back: the hardware may be fetching it.
    static let safeguard = Duration.milliseconds(2)
    /// So many recoveries without a frame between them are a failure.
    static let mostRecoveries = 10
    private static let mostInterruptions = 8

    private let pcm: OpaquePointer
    private let calls: PlaybackCalls
    private let name: String
    private let bytesPerFrame: Int
    /// How many frames always stay queued when others are taken back; nil: none can be.
    private let leastKept: Int?
    private var recoveries = 0
    /// How often it ran dry.
    private(set) var underruns = 0

    /// A queue of a PCM, which must outlive it.
    /// - Parameter canTakeBack: whether this is the hardware itself: what a plug-in was given is out of reach.
    init(
        pcm: OpaquePointer, calls: PlaybackCalls = unsafe .alsa, name: String, grant: OpenPCM.Grant, canTakeBack: Bool
    ) {
        unsafe self.pcm = unsafe pcm
        unsafe self.calls = unsafe calls
        self.name = name
        bytesPerFrame = grant.format.bytesPerFrame
        let safeguard = Int(grant.format.frames(in: Self.safeguard))
        leastKept = canTakeBack ? safeguard + (grant.movesByPeriods ? grant.periodFrames : 0) : nil
    }

    /// Queues as many whole frames as there is room for.
    mutating func write(_ frames: UnsafeRawBufferPointer) throws(SoundCardError) -> Int {
        let wanted = frames.count / bytesPerFrame
        guard wanted > 0, let start = frames.baseAddress else { return 0 }
        var done = 0
        var interruptions = 0
        while done < wanted {
            // Safe: what is left of the buffer begins here and holds that many frames.
            let count = unsafe calls.write(pcm, start + done * bytesPerFrame, wanted - done)
            if count > 0 {
                done += count
                recoveries = 0
                continue
            }
            switch -Int32(truncatingIfNeeded: count) {
            case 0, EAGAIN:
                return done
            case EINTR:
                interruptions += 1
                guard interruptions < Self.mostInterruptions else { return done }
            case let code:
                guard try recover(-code) else { return done }
            }
        }
        return done
    }

    /// Frames that are queued and not played yet; 0 when it ran dry.
    func queuedFrames() throws(SoundCardError) -> Int {
        var status: Int32 = 0
        for _ in 0..<Self.mostInterruptions {
            var frames = 0
            status = unsafe calls.delay(pcm, &frames)
            if status >= 0 { return max(0, frames) }
            guard status == -EINTR || status == -EAGAIN else { break }
        }
        if isLost(status) { throw error(nil, status) }
        switch -status {
        // Run dry, suspended or dropped: what was queued is not played any more.
        case EPIPE, ESTRPIPE, EBADFD: return 0
        default: throw error("count what is queued", status)
        }
    }

    /// Takes back what was written last, except `frameCount` of the frames that are played next.
    /// - Returns: how many were taken back.
    func takeBack(keeping frameCount: Int) throws(SoundCardError) -> Int {
        guard let leastKept else { return 0 }
        let spare = try queuedFrames() - max(frameCount, leastKept)
        guard spare > 0 else { return 0 }
        // What the hardware has fetched still counts as queued, and cannot be taken back.
        let count = min(spare, unsafe calls.rewindable(pcm) - leastKept)
        guard count > 0 else { return 0 }
        let taken = unsafe calls.rewind(pcm, count)
        if taken < 0, isLost(Int32(truncatingIfNeeded: taken)) { throw error(nil, Int32(truncatingIfNeeded: taken)) }
        return max(0, taken)
    }

    /// Silence at once. What fails here fails again at the next write, and is reported then.
    func drop() {
        unsafe _ = calls.drop(pcm)
        unsafe _ = calls.prepare(pcm)
    }

    /// Makes the PCM ready after a write failed with `status`.
    /// - Returns: whether to write again at once.
    private mutating func recover(_ status: Int32) throws(SoundCardError) -> Bool {
        if isLost(status) { throw error(nil, status) }
        recoveries += 1
        guard recoveries <= Self.mostRecoveries else { throw error("play on", status) }
        switch -status {
        case EPIPE:
            underruns += recoveries == 1 ? 1 : 0
        case ESTRPIPE:
            switch unsafe calls.resume(pcm) {
            case 0...: return true
            case -EAGAIN:
                // The card is still suspended, and may be for any time.
                recoveries -= 1
                return false
            default: break
            }
        case EBADFD:
            break
        default:
            throw error("write", status)
        }
        let prepared = unsafe calls.prepare(pcm)
        guard prepared < 0 else { return true }
        if isLost(prepared) { throw error(nil, prepared) }
        guard prepared == -EAGAIN || prepared == -EINTR || prepared == -EPIPE else {
            throw error("make it ready again", prepared)
        }
        return false
    }

    /// Whether an error means that the card itself is gone.
    private func isLost(_ status: Int32) -> Bool {
        if SoundCardError.lostCodes.contains(-status) { return true }
        return unsafe calls.isGone(pcm)
    }

    private func error(_ operation: String?, _ status: Int32) -> SoundCardError {
        SoundCardError(name, operation, status: status, direction: .playback)
    }
}
