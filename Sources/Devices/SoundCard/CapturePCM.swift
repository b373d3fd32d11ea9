import CALSA
import Glibc
import Takes

/// An open PCM in the capture direction. It is closed when it goes out of scope.
@safe struct CapturePCM: ~Copyable {
    let pcm: OpenPCM

    /// Opens a PCM in non-blocking mode.
    /// - Parameters:
    ///   - name: ALSA's PCM name, such as `hw:CARD=Mic`.
    ///   - automatic: whether plug-ins may convert formats and channels. They never resample.
    init(opening name: String, automatic: Bool = false) throws(SoundCardError) {
        pcm = try OpenPCM(opening: name, .capture, automatic: automatic)
    }

    /// The time between two wake-ups. Together with the recorder's other threads, this makes fewer than 12 wake-ups a
    /// second.
    static let period = Duration.milliseconds(120)
    /// The buffer is as large as the card allows, up to this length.
    static let longestBuffer = Duration.seconds(30)
    /// A plug-in may offer gigabytes, and one that the hardware does not pace always has a full buffer to read.
    static let longestPluginBuffer = Duration.seconds(1)

    /// Configures the PCM for `format`, with long periods and the largest buffer, and reads back the granted values.
    /// Its timestamps are then on `CLOCK_MONOTONIC`.
    /// - Parameter period: the time between two wake-ups, or nil for `Self.period`.
    func configure(
        _ format: StreamFormat, period: Duration? = nil, calls: ParameterCalls = unsafe .alsa
    ) throws(SoundCardError) -> OpenPCM.Grant {
        let grant = try unsafe pcm.configure(
            format, period: period ?? Self.period,
            buffer: pcm.isHardware ? Self.longestBuffer : Self.longestPluginBuffer,
            calls: calls)
        let parameters = try pcm.softwareParameters()
        // Half a period: a late read also takes the first frames of the next period. The rest of that period must still
        // be enough for a wake-up.
        try parameters.wake(atFrames: grant.periodFrames / 2)
        try parameters.startAtOnce()
        try parameters.dateMonotonically()
        try parameters.install()
        return grant
    }

    func settle(
        _ candidates: [StreamFormat], period: Duration? = nil
    ) throws(SoundCardError) -> (grant: OpenPCM.Grant, candidate: StreamFormat, refusal: SoundCardError?) {
        try pcm.settle(candidates) { candidate throws(SoundCardError) in try unsafe configure(candidate, period: period)
        }
    }

    /// Configures a format, or returns nil if the card refuses it.
    /// - Throws: an error if the card is gone.
    func settleIfAccepted(_ format: StreamFormat, period: Duration? = nil) throws(SoundCardError) -> OpenPCM.Grant? {
        do throws(SoundCardError) {
            return try unsafe configure(format, period: period)
        } catch {
            if SoundCardError.lostCodes.contains(error.code) { throw error }
            return nil
        }
    }

    /// The file descriptors to poll, with their events.
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

    func start() throws(SoundCardError) {
        try check(pcm.name, "prepare") { unsafe snd_pcm_prepare(pcm.handle) }
        try check(pcm.name, "start") { unsafe snd_pcm_start(pcm.handle) }
    }
}
