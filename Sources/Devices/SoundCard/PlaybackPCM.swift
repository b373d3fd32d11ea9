import Takes

/// An open PCM in the playback direction. It is closed when it goes out of scope; frames that are still queued are not
/// played.
struct PlaybackPCM: ~Copyable {
    let pcm: OpenPCM

    /// Opens a PCM in non-blocking mode.
    /// - Parameters:
    ///   - name: ALSA's PCM name, such as `hw:CARD=Headphones`.
    ///   - automatic: whether plug-ins may convert formats and channels. They never resample.
    init(opening name: String, automatic: Bool = false) throws(SoundCardError) {
        pcm = try OpenPCM(opening: name, .playback, automatic: automatic)
    }

    /// The interval of the card's position reports, and so the precision with which queued frames can be taken back.
    static let period = Duration.milliseconds(20)
    /// The longest queue. It covers the time for which the player may get no processor time.
    static let buffer = Duration.milliseconds(500)
    /// The number of periods in a shorter buffer.
    static let periods = 3

    /// Configures the PCM for `format` and reads back the granted values. Playback starts with the first written frame,
    /// and stops when the queue is empty.
    /// - Parameter latency: the longest queue, or nil for half a second.
    func configure(_ format: StreamFormat, latency: Duration? = nil) throws(SoundCardError) -> OpenPCM.Grant {
        let grant = try unsafe pcm.configure(
            format, period: latency.map { min($0 / Self.periods, Self.period) } ?? Self.period,
            buffer: latency ?? Self.buffer)
        let parameters = try pcm.softwareParameters()
        try parameters.wake(atFrames: grant.periodFrames)
        try parameters.startAtOnce()
        try parameters.stopWhenDry(bufferFrames: grant.bufferFrames)
        try parameters.install()
        return grant
    }

    func settle(
        _ candidates: [StreamFormat], latency: Duration? = nil
    ) throws(SoundCardError) -> (grant: OpenPCM.Grant, candidate: StreamFormat, refusal: SoundCardError?) {
        try pcm.settle(candidates) { candidate throws(SoundCardError) in try configure(candidate, latency: latency) }
    }
}
