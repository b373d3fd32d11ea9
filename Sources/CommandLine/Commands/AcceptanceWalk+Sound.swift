import Control
import Doctor
import FoundationEssentials
import Settings
import SoundCard
import Takes
import Transport

extension AcceptanceWalk {
    /// Measures the quiet level and asks for a tap on each channel's microphone.
    func askForTaps() throws {
        if let reason = try askToBegin("microphone: 3 s of quiet are measured: say nothing, and touch nothing") {
            return try note(AcceptanceCheck(.microphone, "all", .skipped, reason))
        }
        do {
            let source: any LevelSource
            if client == nil {
                source = try session.access.acceptance.openMicrophone(settings)
            } else {
                source = try RecorderLevels(try session.connect())
            }
            try askForTaps(source)
        } catch let failure as LevelFailure {
            try note(AcceptanceCheck(.microphone, "card", .failed, failure.description))
        }
    }

    private func askForTaps(_ source: any LevelSource) throws {
        let cards = cards()
        if let open = cards.first(where: { $0.id == source.card }) {
            let doubts = CardDoubts(open: open, request: settings.capture.card, cards: cards).sentences
            for doubt in doubts { try note(AcceptanceCheck(.microphone, "card", .warning, "\(open.id): \(doubt)")) }
        }
        // Skip the sound of the key press.
        _ = try levels(of: source, for: .milliseconds(700))
        let quiet = try levels(of: source, for: MicrophoneTrial.quietLength)
        guard !quiet.isEmpty else { throw LevelFailure("the card delivers no sound: unplug it and plug it in again") }
        let trial = MicrophoneTrial(quiet: quiet, format: source.format, numbers: source.channelNumbers)
        for (channel, number) in source.channelNumbers.enumerated() {
            let side = source.channelNumbers == [1, 2] ? [" (left)", " (right)"][channel] : ""
            try keyboard.forget()
            say("tap the microphone of channel \(number)\(side) a few times; Enter: skip")
            let tap = try waitForTap(source, trial)
            try note(trial.check(channel, tap))
            // The end of a tap must not count as the next one.
            _ = try levels(of: source, for: .milliseconds(700))
        }
        if let complaint = source.rateComplaint {
            try note(AcceptanceCheck(.microphone, "rate", .failed, complaint))
        }
        if let complaint = source.fallComplaint {
            try note(AcceptanceCheck(.microphone, "level", .failed, complaint))
        }
    }

    /// The present sound cards, reported by the process that opens them, which knows the cards it could not record
    /// from.
    private func cards() -> [CardReport] {
        let reply = try? client?.ask(.inventory(.cards), timeout: .seconds(30))
        let list = reply?["cards"].map { Data($0.description.utf8) }
        return list.flatMap { try? JSONDecoder().decode([CardReport].self, from: $0) }
            ?? session.access.acceptance.cards()
    }

    /// All levels during a time.
    private func levels(of source: any LevelSource, for length: Duration) throws -> [[Level]] {
        var found: [[Level]] = []
        let limit = session.clock.now() + length
        while session.clock.now() < limit {
            if let levels = try source.next(until: limit) { found.append(levels) }
            if keyboard.wait(until: session.clock.now()) == .interrupted { throw Keyboard.Interruption() }
        }
        return found
    }

    private func waitForTap(_ source: any LevelSource, _ trial: MicrophoneTrial) throws -> MicrophoneTrial.Tap {
        var all: [[Level]] = []
        let limit = session.clock.now() + MicrophoneTrial.patience
        while session.clock.now() < limit {
            if let levels = try source.next(until: min(limit, session.clock.now() + .milliseconds(200))) {
                all.append(levels)
                if trial.isTap(levels) {
                    let rest = try self.levels(of: source, for: MicrophoneTrial.tapLength)
                    return .levels(MicrophoneTrial.greatest([levels] + rest, channels: levels.count))
                }
            }
            switch keyboard.wait(until: session.clock.now()) {
            case .line: return .skipped(Self.skipped)
            case .interrupted: throw Keyboard.Interruption()
            case nil: continue
            }
        }
        return .levels(MicrophoneTrial.greatest(all, channels: source.format.channels))
    }

    // MARK: Card

    /// Tests whether the card really has the memory it claims, and measures its speed.
    func testCard() throws {
        if let reason = try askToBegin(
            "card: it is filled and read back, which takes up to two minutes; Ctrl-C ends it")
        {
            return try note(AcceptanceCheck(.card, "all", .skipped, reason))
        }
        let watch = TakeWatch(session)
        guard !watch.isRecording() else {
            return try note(
                AcceptanceCheck(
                    .card, "all", .failed,
                    "a take is being recorded, which has precedence: stop it, and run this again",
                    exitStatus: 75))
        }
        var format: StreamFormat?
        if let status, let rateHz = status.rateHz, let channels = status.channels, let sampleFormat = status.format {
            format = StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: sampleFormat)
        }
        let storage = AcceptanceAccess.Storage(
            directory: status?.directory ?? settings.takes.folder,
            bytesPerSecond: SpeedTrial.bytesPerSecond(format: format, isTwinKept: settings.filter.keepUnfiltered),
            reserveBytes: Int64(settings.takes.reserveMiB) << 20)
        let access = session.access.acceptance
        let outcome = try FolderOwner.run(of: storage.directory) { () throws(Failure) in
            access.testCapacity(storage) { [keyboard, session] in
                if keyboard.wait(until: session.clock.now()) == .interrupted { return .interrupted }
                return watch.isRecording() ? .takeBegan : nil
            }
        }
        let capacity = CapacityCheck(directory: storage.directory, outcome: outcome).check
        try note(capacity)
        if outcome == .ended(.interrupted) { throw Keyboard.Interruption() }
        // On a counterfeit card, writes may overwrite takes.
        guard capacity.outcome != .failed, outcome != .ended(.takeBegan), !watch.isRecording() else {
            return try note(AcceptanceCheck(.card, "speed", .skipped, "not measured: see the capacity"))
        }
        let speed = try FolderOwner.run(of: storage.directory) { () throws(Failure) in access.measureSpeed(storage) }
        let checks = SpeedTrial.checks(
            directory: storage.directory, outcome: speed, bytesPerSecond: storage.bytesPerSecond)
        for check in checks { try note(check) }
    }
}
