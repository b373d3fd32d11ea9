import Files
import Foundation
import Panel
import ScriptedPlayback
import Takes
import TestBench
import Transport

@testable import Deck

/// A kit and its model get the same events. After each event they are compared.
final class ModelRun {
    /// The kit and the model differ.
    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var rig: Rig!
    var model = KitModel()
    let shelf: TakeShelf
    let storage = TroubledStorage()
    let seed: UInt64
    private(set) var boot = 1
    /// The latest events, for the report of a failed run.
    private(set) var history: [String] = []
    private(set) var display = Display()

    /// The takes on disk at the last reading. None of them may change.
    struct Kept {
        var name: TakeName
        var sidecar: Sidecar
        var sound: [String: UInt64]
        /// On `CLOCK_MONOTONIC` of its boot.
        var started: Instant
    }
    var kept: [Int: Kept] = [:]
    /// Whether the last date may not have reached the sidecars.
    private(set) var isDatingUnsure = false
    var now: Instant { rig.clock.now() }

    static let reserve: Int64 = 1 << 20

    init(seed: UInt64) throws {
        self.seed = seed
        rig = try Self.makeRig(seed, storage, boot: 1, in: TestFolder())
        shelf = TakeShelf(path: rig.directory)
        listen()
        run(.milliseconds(300))
    }

    private static func makeRig(_ seed: UInt64, _ storage: TroubledStorage, boot: Int, in folder: TestFolder) throws
        -> Rig
    {
        try Rig(files: FileSystem(calls: storage), in: folder) {
            $0.bootID = "boot\(boot)"
            $0.reserveBytes = reserve
            $0.preRoll = seed % 2 == 0 ? .seconds(2) : .zero
            $0.keepsUnfiltered = seed % 3 == 0
            // Six seconds.
            $0.splitBytes = 100_000
        }
    }

    private func listen() {
        rig.onEvent = { [unowned self] event in
            if case .changed = event { display.show(rig.deck.indication, at: now) }
        }
        display = Display()
        display.show(rig.deck.indication, at: now)
    }

    func note(_ sentence: String) { history.append("\(now.nanoseconds / 1_000_000): \(sentence)") }

    /// Advances the time for both.
    func run(_ duration: Duration) {
        if duration > .milliseconds(400) { note("\(duration) pass") }
        rig.run(duration, step: duration > .seconds(60) ? .milliseconds(500) : .milliseconds(100))
        model.pass(duration)
        rig.sink.clear()
    }

    /// Waits for the end of a take or of playback that was ordered to end.
    func settle() {
        run(.milliseconds(300))
        var left = 40
        while left > 0, isEnding {
            run(.milliseconds(50))
            left -= 1
        }
    }

    private var isEnding: Bool {
        switch rig.deck.transport.phase {
        case .recording(let take): take.stage != .running || take.name == nil
        case .playing(let play): play.stage != .running || play.sound != .open
        case .arming, .finishing: true
        case .idle, .resting: false
        }
    }
}

// MARK: - Events

extension ModelRun {
    func press(_ button: Button) {
        let instant = now
        // A press is known only after it has been stable.
        rig.run(.milliseconds(15), step: .milliseconds(5))
        model.pass(.milliseconds(15))
        receiveEnd()
        note("\(button.rawValue), \(model.mode)")
        model.press(button, at: instant)
        rig.deck.handle(.press(button, at: instant))
        rig.work()
    }

    /// Holds play until pairing begins.
    func holdPlay() {
        let (instant, mode) = (now, model.mode)
        press(.play)
        run(instant + .seconds(3) - now)
        receiveEnd()
        note("play is held, \(model.mode)")
        model.pair(since: mode, at: now)
        rig.deck.handle(.pair(pressed: instant))
        rig.work()
    }

    /// Playback ends at about the time that the model expects.
    func receiveEnd() {
        if model.mayHaveEnded, rig.deck.state != .playing { model.playingEnded(at: now) }
    }

    /// Presses record and stop faster than a take ends.
    func pressQuickly(_ buttons: [Button], apart gap: Duration) {
        for button in buttons {
            press(button)
            run(gap)
        }
    }

    func unplug() {
        note("unplug")
        model.cardGoes(at: now, silently: false)
        rig.card.unplug()
    }

    func silence() {
        note("the card falls silent")
        model.cardGoes(at: now, silently: true)
        rig.card.stall()
    }

    func plugIn() {
        note("plug in")
        model.cardReturns(at: now)
        rig.card.plugIn()
    }

    func overrun(for duration: Duration) {
        note("overrun of \(duration)")
        rig.card.overrun(for: duration)
        model.pass(duration)
        model.overrunAt = now
    }

    /// The storage begins to fail or stall. A take in progress ends at its next sync.
    func trouble(_ trouble: KitModel.Trouble) throws {
        note("storage: \(trouble)")
        let began = now
        switch trouble {
        case .failing: storage.code = EIO
        case .readOnly:
            storage.code = EROFS
            storage.isReadOnly = true
        case .away:
            storage.card = 0
            try FileManager.default.moveItem(atPath: rig.directory, toPath: rig.directory + "-away")
        case .stalled: rig.isSyncStalled = true
        case .none:
            if model.trouble == .away {
                try FileManager.default.moveItem(atPath: rig.directory + "-away", toPath: rig.directory)
                storage.card = 1
            }
            if model.trouble == .stalled { model.stallEndedAt = now }
            storage.code = nil
            storage.isReadOnly = false
            rig.isSyncStalled = false
        }
        let before = model.trouble
        model.storage(trouble, at: now)
        switch trouble {
        case .failing, .readOnly:
            guard model.mode == .recording else { break }
            run(.milliseconds(1500))
            model.suspect.set(true, at: now)
            model.failedAt = now
            model.end(
                .storageError, at: KitModel.Moment(first: began - .seconds(1), last: now), now: now, isRecovered: true)
        case .away:
            run(KitModel.Condition.patience)
            model.selected = nil
        case .none where before == .away:
            run(KitModel.Condition.patience)
            model.selected = model.takes.keys.max()
        case .none, .stalled: break
        }
    }

    /// The free space from now on: none, enough for some minutes, or plenty.
    func space(isFull: Bool, isNearlyFull: Bool) {
        note("space: full \(isFull), nearly \(isNearlyFull)")
        storage.free = isFull ? Self.reserve - 1 : isNearlyFull ? Self.reserve + 300 * 16_000 : nil
        let began = now
        model.space(isFull: isFull, isNearlyFull: isNearlyFull, at: now)
        if isFull, model.mode == .recording {
            run(.milliseconds(1500))
            model.endedFullAt = now
            model.end(.diskFull, at: KitModel.Moment(first: began - .milliseconds(500), last: now), now: now)
        }
    }

    /// The calendar jumps, or its source changes.
    func jump(_ duration: Duration, _ origin: ClockOrigin) {
        note("calendar: \(duration), \(origin)")
        rig.clock.set(by: duration)
        rig.clockOrigin = origin
        model.clockUnset.set(origin == .unset, at: now)
        rig.deck.clockChanged()
        isDatingUnsure = model.trouble != .none || !model.due.isEmpty
    }

    /// The kit restarts after a power cut or a shutdown.
    func restart(byShutdown isShutdown: Bool) throws {
        note(isShutdown ? "shutdown" : "power cut")
        if isShutdown {
            let wasRecording = model.mode == .recording
            let at = KitModel.Moment(first: now, last: now)
            rig.deck.handle(.shutdown(at: now))
            rig.work()
            if wasRecording { model.end(.shutdown, at: at, now: now) }
            model.mode = .idle
            settle()
            guard rig.powerOffs == 1 else { throw Difference(description: "it did not switch off") }
        } else if model.mode == .recording {
            model.end(
                .powerCut, at: KitModel.Moment(first: now - .seconds(1), last: now), now: now, isRecovered: true)
        }
        boot += 1
        let (card, wall, clock, origin) = (rig.card.isPresent, rig.clock.wallTime(), rig.clock.now(), rig.clockOrigin)
        let folder = rig.folder
        // The directory is locked until the old rig is released.
        rig = nil
        rig = try Self.makeRig(seed, storage, boot: boot, in: folder)
        rig.clock.advance(by: clock - rig.clock.now())
        rig.clock.set(to: wall)
        rig.clockOrigin = origin
        listen()
        model.starts(at: now)
        model.isCardSilent = false
        model.isCardPresent = card
        if !card {
            rig.card.unplug()
            model.noCard.set(true, at: now)
        }
        model.full.set(storage.free.map { $0 < Self.reserve } ?? false, at: now)
        model.nearlyFull.set(storage.free != nil, at: now)
        run(KitModel.Condition.patience)
    }
}
