import Filters
public import Panel
import Ring
import Takes
public import Transport

extension Deck {
    /// The state of the transport.
    public var state: DeckState {
        switch phase {
        case .recording: .recording
        case .playing(let play): play.isPaused ? .paused : .playing
        case .idle: cannotArm ? .fault : .idle
        }
    }

    /// Whether record would record at once.
    public var isArmed: Bool {
        guard case .idle = phase, directory != nil, restsUntil == nil, !cannotArm else { return false }
        return options.isListening ? input.map { $0.ring.delivered > 0 } ?? false : true
    }

    /// Whether something is known to be missing: the card, the folder for takes, or room in it.
    private var cannotArm: Bool {
        if faults[.noCard] != nil { return true }
        if directory == nil || isStorageSuspect || isStorageUnreadable, faults[.storageFailing] != nil { return true }
        return isFull
    }

    /// What the recorder is doing, whole.
    public var status: Status {
        var status = Status(version: options.version)
        status.state = state
        status.selected = selection.selected?.stem
        status.freeBytes = freeBytes
        status.clock = originOfClock(selection.takes.last?.day)
        status.faults = faults.list
        status.armed = isArmed
        status.slopeDBPerOctave = filter.slopeDBPerOctave
        if let input {
            status.rateHz = input.ring.format.rateHz
            status.channels = input.ring.format.channels
            status.format = input.ring.format.sampleFormat
            status.card = input.grant.card
            status.lowPassHz = input.filter.lowPassHz
            status.highPassHz = input.filter.highPassHz
            status.slopeDBPerOctave = input.filter.slopeDBPerOctave
            status.levelDBFS = levels
            status.xruns = input.ring.xrunCount
        }
        if case .recording(let take) = phase {
            status.take = take.name?.stem
            if let progress = writer.progress {
                status.frames = progress.frames
                status.elapsedSeconds = Double(progress.frames) / Double(progress.rateHz)
                status.syncedSeconds = Double(progress.syncedFrames) / Double(progress.rateHz)
                status.gaps = progress.gaps
            }
        }
        if case .playing(let play) = phase {
            status.take = play.name.stem
            status.frames = play.facts?.frames ?? 0
            status.elapsedSeconds = play.facts?.seconds ?? 0
            status.positionSeconds = player.progress?.seconds(at: clock.now()) ?? 0
        }
        return status
    }

    /// How loud each channel was over the last 0.1 s, as the card delivered it; empty without a card.
    public var levels: [Level] {
        guard let ring = input?.ring else { return [] }
        let position = ring.position
        let first = max(0, position - Int64(ring.format.rateHz / 10))
        // Safe: the ring is far longer than what is looked at.
        let levels = unsafe ring.withFrames(from: first, atMost: position - first) { bytes in
            unsafe Meter.measure(bytes, format: ring.format)
        }
        return levels.map { Level(peak: $0.peakDBFS, rms: $0.rmsDBFS) }
    }

    /// What the lamps are to tell.
    public var indication: Indication {
        var indication = Indication()
        indication.isArmed = isArmed
        indication.faults = Set(faults.list.map(\.code))
        indication.answer = answer
        indication.upload = upload
        if case .recording(let take) = phase {
            indication.recording = Indication.Recording(safeUntil: safeUntil(take), lastSync: lastSync)
        }
        if case .playing(let play) = phase, play.facts != nil {
            indication.playback = play.isPaused ? .paused : .playing
        }
        return indication
    }

    /// Whatever of the take was heard before this instant is on disk.
    private func safeUntil(_ take: OpenTake) -> Instant {
        writer.progress?.safeUntil ?? take.pressed
    }
}
