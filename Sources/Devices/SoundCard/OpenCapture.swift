import Ring
import Takes

/// An open and configured card. `CaptureCard` holds it until it hands it to the capture thread; from then on only that
/// thread may use it, except for `survey`. The card is closed when this object is released.
final class OpenCapture: @unchecked Sendable {
    /// ALSA's PCM name.
    let name: String
    /// ALSA's control name of the card, or nil if it has no mixer.
    let mixer: String?
    /// Nil if the settings name a PCM.
    private let card: CardDescription?
    private(set) var grant: CaptureGrant
    let pcm: CapturePCM

    init(name: String, mixer: String?, card: CardDescription?, grant: CaptureGrant, pcm: consuming CapturePCM) {
        self.name = name
        self.mixer = mixer
        self.card = card
        self.grant = grant
        self.pcm = pcm
    }

    /// From the next start on, captures only these channels.
    func keep(_ numbers: [Int]) {
        grant.layout.kept = numbers
        grant.format.channels = numbers.count
    }

    /// Starts the card, and returns the loop that reads it into the ring.
    func begin(into ring: Ring) throws(SoundCardError) -> CaptureLoop {
        guard ring.format == grant.format else {
            throw SoundCardError(
                name, "start",
                reason: "the ring is for \(ring.format.summary), the card runs at \(grant.format.summary)")
        }
        let loop = try unsafe CaptureLoop(
            device: .alsa(pcm.pcm.handle), format: grant.format, layout: grant.layout,
            periodFrames: grant.periodFrames, bufferFrames: grant.bufferFrames,
            pollDescriptors: pcm.pollDescriptors())
        try pcm.start()
        loop.begin(ring)
        return loop
    }

    /// Queries and remembers everything that the card offers, unless that is already known.
    ///
    /// It may be called while the capture thread runs: ALSA passes these queries (`SNDRV_PCM_IOCTL_HW_REFINE`) to the
    /// kernel, and for a hardware PCM neither ALSA nor the kernel changes its state.
    func survey() {
        guard pcm.pcm.isHardware, let card, SoundCards.remembered(card, for: .capture) == nil,
            let offers = try? pcm.pcm.offers(asked: grant.format.rateHz)
        else { return }
        SoundCards.remember(offers, of: card, for: .capture)
    }

    /// Stops the card at once. It can be started again.
    func halt() {
        pcm.pcm.drop()
    }
}
