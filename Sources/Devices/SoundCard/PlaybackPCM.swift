import Takes

/// An open PCM in the playback direction. Closed when it goes out of scope; what is queued is not played any more.
struct PlaybackPCM: ~Copyable {
    let pcm: OpenPCM

    /// Opens a PCM without waiting for it.
    /// - Parameters:
    ///   - name: ALSA's name of it, such as `hw:CARD=Headphones`.
    ///   - automatic: whether plug-ins may convert formats and channels on the way. They never resample.
    init(opening name: String, automatic: Bool = false) throws(SoundCardError) {
        pcm = try OpenPCM(opening: name, .playback, automatic: automatic)
    }

    /// How often the card reports its position, so how exactly queued frames can be taken back.
    static let period = Duration.milliseconds(20)
    /// The most that is queued: as long as the player may get no processor time.
    static let buffer = Duration.milliseconds(500)
    /// Periods in a buffer that is shorter than that.
    static let periods = 3

    /// Settles the PCM to `format` and reads back what it runs at. It plays from the first frame that is written, and stops
    /// once it has nothing more.
    /// - Parameter latency: the most that is queued; nil: half a second.
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

    /// Settles the first of the candidates that the card accepts.
    func settle(
        _ candidates: [StreamFormat], latency: Duration? = nil
    ) throws(SoundCardError) -> (grant: OpenPCM.Grant, candidate: StreamFormat, refusal: SoundCardError?) {
        try pcm.settle(candidates) { candidate throws(SoundCardError) in try configure(candidate, latency: latency) }
    }
}
