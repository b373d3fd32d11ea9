import Filters
import Playback
import Recording
import Ring
import Takes
import Transport

// The contributions of the kit's parts to the status.
extension Status {
    mutating func describe(_ open: OpenCard, _ input: InputWatch) {
        rateHz = open.grant.format.rateHz
        channels = open.grant.format.channels
        channelsOfCard = open.grant.layout.ofCard
        format = open.grant.format.sampleFormat
        card = open.grant.card
        gainDB = open.grant.gain.gainDB
        gainRangeDB = open.grant.gain.rangeDB
        agc = open.grant.gain.agc
        lowPassHz = input.design.lowPassHz
        highPassHz = input.design.highPassHz
        slopeDBPerOctave = input.design.slopeDBPerOctave
        levelDBFS = input.levels
        xruns = open.ring.xrunCount
    }

    mutating func describe(_ progress: RecordingProgress) {
        frames = progress.frames
        elapsedSeconds = Double(progress.frames) / Double(progress.rateHz)
        syncedSeconds = Double(progress.syncedFrames) / Double(progress.rateHz)
        gaps = progress.gaps
    }

    mutating func describe(_ played: Played, now: Instant) {
        frames = played.facts.frames
        elapsedSeconds = played.facts.seconds
        positionSeconds = played.progress?.seconds(at: now) ?? 0
    }
}
