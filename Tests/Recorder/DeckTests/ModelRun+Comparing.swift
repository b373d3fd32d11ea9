import Panel
import TakeFiles
import TakePlaces
import Takes
import TestBench
import Transport

@testable import Deck

// Compares the kit with its model: state, lamps and disk.
extension ModelRun {
    private func hold(_ isSo: Bool, _ sentence: @autoclosure () -> String) throws {
        guard isSo else { throw Difference(description: sentence()) }
    }

    func compare() throws {
        receiveEnd()
        // While the kit plays, overruns are not checked.
        if model.mode == .playing || model.mode == .paused, model.overrunAt != nil { model.overrunAt = now }
        model.postponeRecovery(at: now)
        try hold(!model.mustHaveEnded, "what plays should be over")
        let status = rig.deck.status
        let states = model.states(at: now)
        try hold(states.contains(status.state), "state \(status.state), not \(states)")
        if states.count == 1 {
            try hold(status.armed == (status.state == .idle), "armed: \(status.armed) in \(status.state)")
        }
        let faults = model.faults(at: now)
        let reported = Set(status.faults.map(\.code))
        try hold(
            reported.isSuperset(of: faults.must) && reported.isSubset(of: faults.may),
            "faults \(status.faults.map(\.message)), not \(faults)")
        try compareDisk()
        let selected = rig.deck.selection.selected?.number
        try hold(selected == model.selected, "selected \(selected ?? 0), not \(model.selected ?? 0)")
        if case .recording(let take) = rig.deck.transport.phase {
            try hold(
                take.name?.number == model.open?.number,
                "records \(String(describing: take)), not \(String(describing: model.open))")
        }
        let isPairing = model.pairingEnd.map { now < $0 } ?? false
        try hold(status.pairing == isPairing, "pairing: \(status.pairing), not \(isPairing)")
        try compareLamps(reported, isArmed: status.armed)
    }

    private func compareLamps(_ faults: Set<Fault.Code>, isArmed: Bool) throws {
        func trace(_ lamp: Lamp, _ length: Duration) -> LampTrace {
            // After the answers and single flashes.
            LampTrace(of: lamp, on: display, from: now + .milliseconds(1000), for: length)
        }
        let fault = trace(.fault, .seconds(12))
        try hold(
            faults.min().map { fault.count == $0.rawValue } ?? fault.isDark,
            "the fault lamp: \(fault.stretches), for \(faults)")
        // No test here uploads anything.
        let upload = trace(.upload, .seconds(6))
        let isPairing = model.pairingEnd.map { now < $0 } ?? false
        try hold(
            isPairing ? upload.flashes >= 60 : upload.isDark,
            "the upload lamp: \(upload.stretches), pairing: \(isPairing)")
        let play = trace(.play, .seconds(6))
        switch model.mode {
        case .recording: try hold(play.isDark, "the play lamp: \(play.stretches), while recording")
        case .playing: try hold(play.isLit, "the play lamp: \(play.stretches), while playing")
        case .paused:
            try hold(
                play.flashes >= 3 && play.longestFlash == .seconds(1) && play.longestDarkness == .seconds(1),
                "the play lamp: \(play.stretches), while paused")
        case .idle:
            try hold(
                isArmed
                    ? play.longestFlash == .milliseconds(60) && play.longestDarkness == .milliseconds(2940)
                    : play.isDark,
                "the play lamp: \(play.stretches), armed: \(isArmed)")
        }
        let record = LampTrace(of: .record, on: display, from: now, for: .milliseconds(400))
        guard let open = model.open else {
            return try hold(record.isDark, "the record lamp: \(record.stretches), while idle")
        }
        let dark = record.stretches.filter { !$0.isLit }.reduce(Duration.zero) { $0 + $1.length }
        guard open.isWhole else { return }
        // The frames of the take that are on disk.
        let frames = storage.syncedBytes(of: rig.deck.status.take ?? "") / 2
        // The take may also contain sound from before the press, so `unsynced` is a lower bound.
        let sincePress: Duration = now - open.pressed
        let unsynced = sincePress - .microseconds(125) * Int(frames)
        if unsynced > .milliseconds(2300) {
            try hold(
                dark >= .milliseconds(150), "the record lamp: \(record.stretches), \(unsynced) are not on the disk")
        } else if model.trouble == .none, now - max(open.pressed, model.wellSince) > .seconds(3) {
            // The limit is one second, and one step of the simulated time.
            try hold(unsynced <= .milliseconds(1100), "\(unsynced) are not on the disk")
            try hold(dark <= .milliseconds(80), "the record lamp: \(record.stretches), while all is well")
        }
    }

    /// Compares the answer of the play lamp right after a press.
    func compareAnswer() throws {
        guard let answer = model.answer else { return }
        let window: (length: Duration, flashes: Int) =
            switch answer {
            case .selected: (.milliseconds(450), 2)
            case .atTheEnd: (.milliseconds(850), 4)
            case .refused: (.milliseconds(340), 3)
            case .locked, .unlocked: (.milliseconds(1500), 2)
            }
        let trace = LampTrace(of: .play, on: display, from: rig.deck.indication.answer?.at ?? now, for: window.length)
        try hold(
            trace.flashes == window.flashes && trace.longestFlash <= .milliseconds(100),
            "the play lamp answers \(trace.stretches), not \(answer)")
    }

    // MARK: - The disk

    private func compareDisk() throws {
        guard model.trouble != .away else { return }
        let (entries, strangers) = try shelf.entries()
        try hold(model.assign(entries.keys), "numbers were skipped: \(entries.keys), \(model)")
        try hold(strangers == [], "strange files: \(strangers)")
        for number in entries.keys.sorted() {
            let entry = entries[number]!
            if let before = kept[number] {
                try hold(entry.name == before.name && !entry.isUnderWay, "take \(number) is \(entry.files)")
                continue
            }
            if number == model.open?.number {
                try hold(!entry.isFinished && entry.isUnderWay, "take \(number), under way, is \(entry.files)")
                continue
            }
            guard let index = model.due.firstIndex(where: { $0.open.number == number }) else {
                // Files of a take that failed to begin are removed once the storage works.
                try hold(!entry.isFinished, "take \(number) should not be there: \(entry.files), \(model.due)")
                try hold(number <= model.lastNumber, "number \(number) was not given: \(entry.files), \(model)")
                continue
            }
            guard entry.isFinished else { continue }
            try hold(!entry.isUnderWay, "take \(number) is finished, with \(entry.files)")
            try judge(model.due.remove(at: index), entry)
        }
        for due in model.due where model.trouble == .none || model.trouble == .stalled {
            guard due.latest < now else { continue }
            // A very short take may have left nothing.
            guard due.open.sampled.low > .zero || due.open.number.flatMap({ entries[$0] }) != nil else { continue }
            throw Difference(description: "a take is missing: \(due)")
        }
        let isWell = model.trouble == .none
        let now = now
        model.due.removeAll { $0.latest < now && isWell && $0.open.number.flatMap { entries[$0] } == nil }
        for number in kept.keys where entries[number] == nil { throw Difference(description: "take \(number) is gone") }
        try compareDates()
    }

    /// Compares a new take on disk with the events.
    private func judge(_ due: KitModel.Due, _ entry: TakeShelf.Entry) throws {
        let sidecar = try shelf.sidecar(of: entry.name)
        let number = entry.name.number
        func hold(_ isSo: Bool, _ sentence: @autoclosure () -> String) throws {
            try self.hold(isSo, "take \(number): \(sentence()); \(due); \(sidecar)")
        }
        try hold(sidecar.endedBy.map(due.endings.contains) ?? false, "ended by \(String(describing: sidecar.endedBy))")
        try hold(sidecar.recovered == due.isRecovered, "recovered: \(sidecar.recovered)")
        try hold(sidecar.frames == sidecar.parts.reduce(0) { $0 + $1.frames }, "\(sidecar.frames) frames")
        try hold(sidecar.preRollFrames <= sidecar.frames, "\(sidecar.preRollFrames) frames of pre-roll")
        let sampled = Duration.microseconds(125) * Int(sidecar.frames - sidecar.preRollFrames)
        let slack = Duration.milliseconds(1)
        try hold(
            sampled >= due.open.sampled.low - slack && sampled <= due.open.sampled.high + slack,
            "\(sampled) from the press on")
        let preRoll = seed % 2 == 0 ? 16_000 : 0
        try hold(sidecar.preRollFrames <= preRoll, "\(sidecar.preRollFrames) frames of pre-roll")
        if !due.isRecovered {
            try hold(sidecar.markers.count == due.open.markers.count, "\(sidecar.markers.count) markers")
        }
        if due.open.isWhole {
            for (marker, pressed) in zip(sidecar.markers, due.open.markers) {
                let at = Duration.microseconds(125) * Int(marker.atFrame.count - sidecar.preRollFrames)
                let off = at - (pressed - due.open.pressed)
                try hold(max(off, .zero - off) <= slack, "a marker at \(marker.atFrame.count)")
            }
        }
        var sound: [String: UInt64] = [:]
        for part in sidecar.parts {
            let range = part.firstFrame.count..<part.firstFrame.count + part.frames
            let gaps = sidecar.gaps.filter { $0.cause != .cardLost }.compactMap { gap -> Range<Int64>? in
                let place = (gap.atFrame.count..<gap.atFrame.count + gap.frames).clamped(to: range)
                return place.isEmpty
                    ? nil : place.lowerBound - part.firstFrame.count..<place.upperBound - part.firstFrame.count
            }
            if let problem = try shelf.problem(of: part, entry.name, gaps: gaps, isRecovered: due.isRecovered) {
                try hold(false, problem)
            }
            sound[part.file] = try shelf.fingerprint(of: part.file, entry.name)
            if seed % 3 == 0 {
                let twin = part.file.twin
                sound[twin] = try shelf.fingerprint(of: twin, entry.name)
            }
        }
        let files = sound.keys + [entry.name.stem + ".json", entry.name.stem + ".dat"]
        try hold(entry.files == Set(files), "its files are \(entry.files)")
        kept[number] = Kept(
            name: entry.name, sidecar: sidecar, sound: sound, started: Instant(nanoseconds: sidecar.startedMonotonicNs))
        model.appeared(due, number: number, plays: Duration.microseconds(125) * Int(sidecar.frames))
    }

    /// Compares the start times of this boot's takes with the present calendar, if the source of the date is known.
    private func compareDates() throws {
        guard !isDatingUnsure, rig.clockOrigin != .unset, case .idle = rig.deck.transport.phase else { return }
        for (number, before) in kept where before.sidecar.bootID == "boot\(boot)" {
            let sidecar = try shelf.sidecar(of: before.name)
            let stated = WallTime(iso8601: sidecar.startedCorrected ?? sidecar.started)
            let true_ = rig.clock.wallTime() + (before.started - now)
            let off = abs((stated?.microseconds ?? 0) - true_.microseconds)
            try hold(off < 100_000, "take \(number) says that it began \(off) µs off")
        }
    }

    /// Expects that no finished take has changed since, except its date.
    func compareAll() throws {
        if model.trouble == .away { try trouble(.none) }
        for (number, before) in kept {
            for (file, fingerprint) in before.sound {
                try hold(try shelf.fingerprint(of: file, before.name) == fingerprint, "\(file) has changed")
            }
            var sidecar = try shelf.sidecar(of: before.name)
            let isDated = sidecar.startedCorrected != before.sidecar.startedCorrected
            try hold(
                sidecar.revision > before.sidecar.revision || !isDated, "take \(number): revision \(sidecar.revision)")
            if isDated {
                // Its points were moved to the new calendar.
                let offsets = sidecar.clockMap.compactMap { point in
                    point.utc.flatMap { WallTime(iso8601: $0) }.map { $0.microseconds - point.rawNs / 1000 }
                }
                let spread = (offsets.max() ?? 0) - (offsets.min() ?? 0)
                try hold(spread < 100_000, "take \(number): \(offsets) are two calendars")
                sidecar.clockMap = before.sidecar.clockMap
            }
            sidecar.startedCorrected = before.sidecar.startedCorrected
            sidecar.revision = before.sidecar.revision
            try hold(sidecar == before.sidecar, "the sidecar of take \(number) has changed: \(sidecar)")
        }
    }

    var takeCount: Int { kept.count }
}
