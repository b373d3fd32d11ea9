import CALSA
import Glibc
import Takes

/// An open PCM in the capture direction. Closed when it goes out of scope.
@safe struct CapturePCM: ~Copyable {
    let pcm: OpenPCM

    /// Opens a PCM without waiting for it.
    /// - Parameters:
    ///   - name: ALSA's name of it, such as `hw:CARD=Mic`.
    ///   - automatic: whether plug-ins may convert formats and channels on the way. They never resample.
    init(opening name: String, automatic: Bool = false) throws(SoundCardError) {
        pcm = try OpenPCM(opening: name, .capture, automatic: automatic)
    }

    /// The time between two wake-ups: together with the recorder's other threads, fewer than 12 wake-ups a second.
    static let period = Duration.milliseconds(120)
    /// The buffer is as large as the card allows, within reason.
    static let longestBuffer = Duration.seconds(30)
    /// A plug-in may offer gigabytes, and one that is not paced by hardware always has a full buffer to read.
    static let longestPluginBuffer = Duration.seconds(1)

    /// Settles the PCM to `format`, with long periods and the largest buffer, and reads back what it runs at. Its timestamps
    /// are on `CLOCK_MONOTONIC` from then on.
    /// - Parameter period: the time between two wake-ups; nil: a long one.
    func configure(
        _ format: StreamFormat, period: Duration? = nil, calls: ParameterCalls = unsafe .alsa
    ) throws(SoundCardError) -> OpenPCM.Grant {
        let grant = try unsafe pcm.configure(
            format, period: period ?? Self.period,
            buffer: pcm.isHardware ? Self.longestBuffer : Self.longestPluginBuffer,
            calls: calls)
        let parameters = try pcm.softwareParameters()
        // Half a period: a late read also takes the first frames of the next period. What is left of that period must still be
        // enough to wake for.
        try parameters.wake(atFrames: grant.periodFrames / 2)
        try parameters.startAtOnce()
        try parameters.dateMonotonically()
        try parameters.install()
        return grant
    }

    /// Settles the first of the candidates that the card accepts.
    func settle(
        _ candidates: [StreamFormat], period: Duration? = nil
    ) throws(SoundCardError) -> (grant: OpenPCM.Grant, candidate: StreamFormat, refusal: SoundCardError?) {
        try pcm.settle(candidates) { candidate throws(SoundCardError) in try unsafe configure(candidate, period: period)
        }
    }

    /// Settles a format; nil: the card refuses it.
    /// - Throws: an error if the card is gone.
    func settleIfAccepted(_ format: StreamFormat, period: Duration? = nil) throws(SoundCardError) -> OpenPCM.Grant? {
        do throws(SoundCardError) {
            return try unsafe configure(format, period: period)
        } catch {
            if SoundCardError.lostCodes.contains(error.code) { throw error }
            return nil
        }
    }

    /// What to poll for it.
    func pollDescriptors() throws(SoundCardError) -> [pollfd] {
        let handle = unsafe pcm.handle
        let count = try check(pcm.name, "count what to poll") { unsafe snd_pcm_poll_descriptors_count(handle) }
        var descriptors = [pollfd](repeating: pollfd(), count: Int(count))
        let filled = try check(pcm.name, "find what to poll") {
            // Safe: the length is the array's.
            unsafe descriptors.withUnsafeMutableBufferPointer {
                unsafe snd_pcm_poll_descriptors(handle, $0.baseAddress, UInt32($0.count))
            }
        }
        return Array(descriptors.prefix(Int(filled)))
    }

    /// Makes it ready and starts it.
    func start() throws(SoundCardError) {
        try check(pcm.name, "prepare") { unsafe snd_pcm_prepare(pcm.handle) }
        try check(pcm.name, "start") { unsafe snd_pcm_start(pcm.handle) }
    }
}
