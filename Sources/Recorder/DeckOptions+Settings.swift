import Deck
import Doctor
import Ring
import Settings
import Takes

extension DeckOptions {
    /// What the settings say of the deck.
    init(settings: Settings, version: String) {
        self.init(
            kit: settings.kitName, directory: settings.takes.directory, version: version)
        capture = CaptureRequest(settings.capture)
        isListening = settings.capture.standby == .listening
        preRoll = settings.capture.preRoll
        filter = settings.filter.request
        keepsUnfiltered = settings.filter.keepUnfiltered
        playbackCard = settings.playback.card
        volume = settings.playback.volume
        skip = settings.playback.skip
        convertsToFLAC = settings.takes.format == .flac
        syncPromise = settings.takes.sync
        splitBytes = Int64(settings.takes.splitMiB) << 20
        reserveBytes = Int64(settings.takes.reserveMiB) << 20
        pressAge = settings.panel.debounce + .milliseconds(200)
        bootID = Machine.bootID
    }
}
