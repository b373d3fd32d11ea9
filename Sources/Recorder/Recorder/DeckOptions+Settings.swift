import Deck
import Doctor
import Ring
import Settings
import Takes
import Transport

extension DeckOptions {
    init(settings: Settings, version: String) {
        self.init(
            kit: settings.kitName, directory: settings.takes.folder, version: version)
        stick =
            settings.takes.stick == .none
            ? nil : Stick(mountPoint: Settings.Takes.stickMountPoint, isOptional: settings.takes.stick == .optional)
        capture = CaptureRequest(settings.capture)
        isListening = settings.capture.standby == .listening
        preRoll = settings.capture.preRoll
        filter = settings.filter.request
        keepsUnfiltered = settings.filter.keepUnfiltered
        playbackCard = settings.playback.card
        volume = settings.playback.volume
        monitor =
            switch settings.playback.monitor {
            case .off: .off
            case .recording: .recording
            case .always: .always
            }
        rules.skip = settings.playback.skip
        rules.rejoin = settings.takes.rejoin
        rules.longest = settings.takes.longest
        rules.newTakeEvery = settings.takes.newTakeEvery
        rules.isListening = isListening
        tuning = settings.playback.tuning
        convertsToFLAC = settings.takes.format == .flac
        syncPromise = settings.takes.sync
        nameTime = settings.takes.nameTime
        splitBytes = Int64(settings.takes.splitMiB) << 20
        reserveBytes = Int64(settings.takes.reserveMiB) << 20
        pressAge = settings.panel.debounce + .milliseconds(60)
        bootID = Machine.bootID
        memoryBytes = Ring.machineMemoryBytes
    }
}
