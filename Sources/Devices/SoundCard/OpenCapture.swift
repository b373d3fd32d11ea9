import Ring
import Takes

/// A card that is open and settled. `CaptureCard` holds it until it hands it to the capture thread, and it is used by that
/// thread alone from then on, but for `survey`. It is closed when it is released.
final class OpenCapture: @unchecked Sendable {
    /// ALSA's name of the PCM.
    let name: String
    /// ALSA's name of the card's controls; nil: it has none.
    let mixer: String?
    /// Nil: the settings name a PCM.
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

    /// Captures these channels alone from the next start on.
    func keep(_ numbers: [Int]) {
        grant.layout.kept = numbers
        grant.format.channels = numbers.count
    }

    /// A loop that reads the card into a ring from now on. The card is started.
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

    /// Remembers all that the card offers, unless that is known.
    ///
    /// It may be called beside the capture thread: ALSA passes these questions (`SNDRV_PCM_IOCTL_HW_REFINE`) to the kernel, and
    /// neither changes a PCM that is hardware, nor does the kernel.
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
