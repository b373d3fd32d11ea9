import CALSA
import Glibc
import Takes

/// The queue of frames between the player and a configured PCM. No call blocks.
@safe struct PlaybackQueue {
    /// This much is never taken back, because the hardware may be fetching it.
    static let safeguard = Duration.milliseconds(2)
    /// Playback fails after more than this number of recoveries without a frame between them.
    static let mostRecoveries = 10
    private static let mostInterruptions = 8

    private let pcm: OpaquePointer
    private let calls: PlaybackCalls
    private let name: String
    private let bytesPerFrame: Int
    /// How many frames stay queued when others are taken back, or nil if no frames can be taken back.
    private let leastKept: Int?
    private var recoveries = 0
    /// How often the queue ran empty.
    private(set) var underruns = 0

    /// A queue of a PCM, which must outlive it.
    /// - Parameter canTakeBack: whether this is the hardware itself. Frames that a plug-in has received cannot be taken
    ///   back.
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

    /// Queues whole frames, as many as fit.
    mutating func write(_ frames: UnsafeRawBufferPointer) throws(SoundCardError) -> Int {
        let wanted = frames.count / bytesPerFrame
        guard wanted > 0, let start = frames.baseAddress else { return 0 }
        var done = 0
        var interruptions = 0
        while done < wanted {
            // Safe: the rest of the buffer begins here and holds this number of frames.
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

    /// Frames that are queued and not yet played, or 0 when the queue ran empty.
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
        // The queue ran empty, or the PCM was suspended or dropped: queued frames will not be played.
        case EPIPE, ESTRPIPE, EBADFD: return 0
        default: throw error("count what is queued", status)
        }
    }

    /// Takes back the last written frames, except the next `frameCount` frames to be played.
    /// - Returns: how many were taken back.
    func takeBack(keeping frameCount: Int) throws(SoundCardError) -> Int {
        guard let leastKept else { return 0 }
        let spare = try queuedFrames() - max(frameCount, leastKept)
        guard spare > 0 else { return 0 }
        // Frames that the hardware has fetched still count as queued, and cannot be taken back.
        let count = min(spare, unsafe calls.rewindable(pcm) - leastKept)
        guard count > 0 else { return 0 }
        let taken = unsafe calls.rewind(pcm, count)
        if taken < 0, isLost(Int32(truncatingIfNeeded: taken)) { throw error(nil, Int32(truncatingIfNeeded: taken)) }
        return max(0, taken)
    }

    /// Stops playback at once. An error here occurs again at the next write, which reports it.
    func drop() {
        unsafe _ = calls.drop(pcm)
        unsafe _ = calls.prepare(pcm)
    }

    /// Makes the PCM ready after a write failed with `status`.
    /// - Returns: whether the caller should write again at once.
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
                // The card is still suspended, for an unknown time.
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

    private func isLost(_ status: Int32) -> Bool {
        if SoundCardError.lostCodes.contains(-status) { return true }
        return unsafe calls.isGone(pcm)
    }

    private func error(_ operation: String?, _ status: Int32) -> SoundCardError {
        SoundCardError(name, operation, status: status, direction: .playback)
    }
}
