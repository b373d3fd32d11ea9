import Takes
import Transport

/// What a kit ought to do, in a few rules of its own: the table of buttons, the lamps, and what ends a take. It knows
/// nothing of threads, files and rings.
struct KitModel {
    enum Mode: Hashable { case idle, recording, playing, paused }

    /// A take that ought to be on the disk.
    struct Expected {
        var number: Int
        var endings: Set<Sidecar.Ending>
        /// Frames, at 8 in a millisecond; nil: only about as many.
        var frames: Int64?
        var markers: Int
    }

    /// A take under way.
    struct Open {
        var pressed: Instant
        var markers = 0
        /// Whether its card was away at some time, or it began while another sound ended.
        var isDisturbed = false
    }

    var mode = Mode.idle
    var open: Open?
    var takes: [Expected] = []
    var lastNumber = 0
    /// An index of `takes`.
    var selected: Int?

    // The world.
    var isCardThere = true
    /// Whatever is written fails.
    var isStorageBroken = false
    /// Less is free than is kept in reserve.
    var isFull = false
    /// Less is free than ten minutes take.
    var isNearlyFull = false

    /// Whether a take failed and nothing was written since.
    var isSuspect = false
    /// A take was ended by a full disk then.
    var endedFullAt: Instant?
    var overrunAt: Instant?

    // What plays.
    var position = Duration.zero
    var length = Duration.zero

    /// Whether a press of record would record.
    var canRecord: Bool { isCardThere && !isFull && !isStorageBroken }

    /// The state that is to be told.
    var state: DeckState {
        switch mode {
        case .recording: .recording
        case .playing: .playing
        case .paused: .paused
        case .idle: !isCardThere || isFull || isSuspect ? .fault : .idle
        }
    }

    var isArmed: Bool { state == .idle }

    /// The faults that must be told, and those that may.
    func faults(at now: Instant) -> (must: Set<Fault.Code>, may: Set<Fault.Code>) {
        var must: Set<Fault.Code> = []
        var may: Set<Fault.Code> = []
        if !isCardThere { must.insert(.noCard) }
        if isSuspect { must.insert(.storageFailing) }
        if isFull || isNearlyFull { must.insert(.diskFull) }
        if let endedFullAt {
            if now - endedFullAt < .seconds(55) { must.insert(.diskFull) }
            if now - endedFullAt < .seconds(65) { may.insert(.diskFull) }
        }
        // Told of at the next look, for half a minute; if the card stays.
        if let overrunAt, now - overrunAt < .seconds(35) { may.insert(.overload) }
        return (must, may.union(must))
    }

    // MARK: - Buttons

    mutating func press(_ button: Button, at instant: Instant, secondsOfSelected: Duration?) {
        switch (mode, button) {
        case (.idle, .record): record(at: instant)
        case (.idle, .play):
            guard let length = secondsOfSelected else { return }
            mode = .playing
            position = .zero
            self.length = length
        case (.idle, .back): move(by: -1)
        case (.idle, .forward): move(by: 1)
        case (.idle, .stop): break
        case (.recording, .record): open?.markers += 1
        case (.recording, .stop): end([.stop], at: instant)
        case (.recording, .play), (.recording, .back), (.recording, .forward): break
        case (.playing, .record), (.paused, .record):
            mode = .idle
            record(at: instant)
            open?.isDisturbed = true
        case (.playing, .stop), (.paused, .stop): mode = .idle
        case (.playing, .play): mode = .paused
        case (.paused, .play): mode = .playing
        case (.playing, .back), (.paused, .back): position = max(.zero, position - .seconds(5))
        case (.playing, .forward), (.paused, .forward): position += .seconds(5)
        }
    }

    private mutating func record(at instant: Instant) {
        if isStorageBroken && isCardThere && !isFull { isSuspect = true }
        guard canRecord else { return }
        lastNumber += 1
        isSuspect = false
        mode = .recording
        open = Open(pressed: instant)
    }

    private mutating func move(by steps: Int) {
        guard let selected, takes.indices.contains(selected + steps) else { return }
        self.selected = selected + steps
    }

    /// The take under way ends.
    /// - Parameter instant: nil: at no instant that is known here.
    mutating func end(_ endings: Set<Sidecar.Ending>, at instant: Instant?) {
        guard let open else { return }
        var frames: Int64?
        if let instant, !open.isDisturbed { frames = (instant - open.pressed).nanoseconds / 125_000 }
        takes.append(Expected(number: lastNumber, endings: endings, frames: frames, markers: open.markers))
        selected = takes.count - 1
        self.open = nil
        mode = .idle
    }

    /// Time goes on.
    mutating func pass(_ duration: Duration) {
        if mode == .playing { position += duration }
    }
}
