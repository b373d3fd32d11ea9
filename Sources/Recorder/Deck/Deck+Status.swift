import Filters
public import Panel
import Playback
import Recording
public import Ring
import TakeFiles
import Takes
public import Transport

// The state of the deck, read-only.
extension Deck {
    /// The transport's state as the status reports it.
    public var state: DeckState {
        let now = clock.now()
        return transport.deckState(isBlocked: card.fault(now: now) != nil || storage.fault(now: now) != nil)
    }

    /// Whether pressing record would start a take at once: a press of it is seen, and a take could begin.
    public var isArmed: Bool { canRecord && !closedButtons.contains(.record) }

    /// Whether any command could begin a take at once.
    public var canRecord: Bool {
        guard case .idle = transport.phase else { return false }
        let now = clock.now()
        let mayDeliver = card.fault(now: now) == nil
        return storage.obstacle(now: now) == nil
            && (options.isListening ? card.isListening || card.isTrying && mayDeliver : mayDeliver)
    }

    /// Whether record would stop playback and begin a take: no obstacle is known.
    public var mayRecordInstead: Bool {
        isPlaying && storage.obstacle(now: clock.now()) == nil && card.fault(now: clock.now()) == nil
    }

    public var status: Status {
        let now = clock.now()
        var status = Status(version: options.version)
        status.state = state
        status.selected = selection.selected?.stem
        status.directory = storage.directory?.path
        status.freeBytes = storage.freeBytes
        if let bin = storage.directory?.bin {
            status.binBytes = bin.byteCount
            status.binTakes = bin.items.count
        }
        status.reserveBytes = options.reserveBytes
        status.kitID = workers.key?.standing.id
        status.clock = clockOrigin
        status.faults = faults.list
        status.armed = isArmed
        status.pairing = isPairing
        status.scheduled = scheduled
        status.rejoinSecondsLeft = transport.rejoinLeft(now: now)?.inSeconds
        status.volume = playing.volume
        status.pitchCents = playing.tuning.pitchCents
        status.speed = playing.tuning.speed
        status.expand = playing.tuning.expands
        status.slopeDBPerOctave = filter.slopeDBPerOctave
        if let input, let open = card.open {
            status.describe(open, input)
            status.timeLeftSeconds = storage.freeBytes.map { options.secondsLeft($0, open.ring.format) }
        }
        switch transport.phase {
        case .recording(let take):
            status.take = take.name?.stem
            if let progress { status.describe(progress) }
            // While the storage blocks the writer, the sound waits in the ring, and its time counts.
            if recordsSound, take.stage == .running, let reported = recorded?.report?.at ?? stall.since,
                now - reported > StorageStall.silence
            {
                status.elapsedSeconds += (now - reported).inSeconds
            }
        case .playing(let playing):
            status.take = playing.name.stem
            status.positionSeconds = 0
            if let played { status.describe(played, now: now) }
        case .idle, .resting, .arming, .finishing: break
        }
        return status
    }

    /// Why the kit has no key that it can keep, as a sentence, or nil if it has one or needs none.
    public var keyProblem: String? {
        if case .missing(let sentence)? = workers.key?.standing { sentence } else { nil }
    }

    public var indication: Indication {
        var indication = Indication()
        indication.isArmed = isArmed
        indication.faults = Set(faults.list.map(\.code))
        indication.isPairing = isPairing
        indication.answer = answer
        indication.upload = stick.state == .released ? .safeToRemove : upload
        switch transport.phase {
        case .recording(let take):
            indication.recording = Indication.Recording(
                safeUntil: progress?.safeUntil ?? take.since, lastSync: progress?.lastSync)
        case .playing(let playing) where playing.sound == .open:
            indication.playback = playing.motion == .paused ? .paused : .playing
        case .idle, .resting, .arming, .finishing, .playing: break
        }
        return indication
    }

    /// The state, the take and the faults, in one line for people.
    public var summary: String {
        let activity =
            switch transport.phase {
            case .recording(let take): "recording \(take.name?.stem ?? "")"
            case .playing(let playing): "\(state.rawValue) \(playing.name.stem)"
            case .idle, .resting, .arming, .finishing: isArmed ? "armed" : state.rawValue
            }
        return ([activity] + faults.list.map { "fault \($0.code.rawValue): \($0.message)" }).joined(separator: "; ")
    }

    /// The number of frames that cards have delivered, kept or not. Nil while capture is closed for a reason: the card
    /// is absent, the deck rests, or it listens only while it records. If a present card delivers nothing, the number
    /// stands still, however often the card is opened.
    public var capturePosition: Int64? { card.position }

    public var openGrant: CaptureGrant? { card.open?.grant }

    public var openRing: Ring? { card.open?.ring }

    public var keepsListening: Bool { options.isListening }

    /// Whether a take is being recorded or finished.
    public var isRecording: Bool {
        if case .recording = transport.phase { true } else { false }
    }

    /// Whether a take is being recorded and its card delivers, for that take or already for the next.
    var recordsSound: Bool {
        guard case .recording(let take) = transport.phase, take.card == .delivers || !changed.isEmpty else {
            return false
        }
        return card.isListening
    }

    /// The last initiator of the take in progress, or nil if no take is recorded or it was ordered to end.
    public var recordedBy: TakeInitiator? {
        if case .recording(let take) = transport.phase, take.stage == .running { recorded?.initiator } else { nil }
    }

    /// Whether other devices may be opened for a moment: no take is awaited, recorded or played, and no stopped take
    /// can be continued.
    public var allowsOpening: Bool { transport.isFree && transport.tail == .none }

    /// Whether takes are being recovered, dated, discarded or converted.
    public var isArchiving: Bool { archiving == .busy }

    public var isPlaying: Bool {
        if case .playing = transport.phase { true } else { false }
    }
}
