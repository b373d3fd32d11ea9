import Takes

/// An open PCM in the playback direction. Closed when it goes out of scope; what is queued is not heard any more.
struct PlaybackPCM: ~Copyable {
    let pcm: OpenPCM

    /// Opens a PCM without waiting for it.
    /// - Parameters:
    ///   - name: ALSA's name of it, such as `hw:CARD=Headphones`.
    ///   - automatic: whether plug-ins may convert formats and channels on the way. They never resample.
    init(opening name: String, automatic: Bool = false) throws(SoundCardError) {
        pcm = try OpenPCM(opening: name, .playback, automatic: automatic)
    }

    /// How often the card tells how far it has come, so how soon what is queued can still be changed.
    static let period = Duration.milliseconds(20)
    /// The most that is queued: it rides out whoever keeps the processor from the player.
    static let buffer = Duration.milliseconds(500)

    /// Settles the PCM to `format` and reads back what it runs at. It plays from the first frame that is written, and stops
    /// once it has nothing more.
    func configure(_ format: StreamFormat) throws(SoundCardError) -> OpenPCM.Grant {
        let grant = try pcm.configure(format, period: Self.period, buffer: Self.buffer)
        let parameters = try pcm.softwareParameters()
        try parameters.wake(atFrames: grant.periodFrames)
        try parameters.startAtOnce()
        try parameters.stopWhenDry(bufferFrames: grant.bufferFrames)
        try parameters.install()
        return grant
    }

    /// Settles the first of the candidates that the card does not take back.
    func settle(
        _ candidates: [StreamFormat]
    ) throws(SoundCardError) -> (grant: OpenPCM.Grant, candidate: StreamFormat, refusal: SoundCardError?) {
        try pcm.settle(candidates) { candidate throws(SoundCardError) in try configure(candidate) }
    }
}
