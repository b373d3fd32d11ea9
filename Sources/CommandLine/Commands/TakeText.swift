import Takes

/// A take's sidecar as lines for a person.
struct TakeText {
    private let sidecar: Sidecar

    /// The number of gaps, markers and the like that are listed one by one.
    static let mostListed = 20

    init(_ sidecar: Sidecar) {
        self.sidecar = sidecar
    }

    /// All details for a technician.
    /// - Parameters:
    ///   - notes: a person's notes, or nil if unknown.
    ///   - damage: the damage found in the folder. Nil if the take is undamaged, or the notes contain the damage.
    ///   - hasDraft: whether a draft lies next to its sidecar.
    ///   - size: returns the size of a file of the take in bytes, or nil if it is missing.
    func lines(
        folder: String, notes: TakeNotes? = nil, damage: String? = nil, hasDraft: Bool = false,
        size: (_ file: String) -> Int64?
    ) -> [String] {
        var rows: [(String, String)] = [("take", take), ("folder", folder)]
        rows += lines(notes)
        rows += sound(notes, damage)
        if hasDraft {
            let rest = "until the recorder has recovered it, it is sent as listed here, and not deleted to free space"
            rows.append(("unfinished", "a draft of its sidecar is in the same folder: \(rest)"))
        }
        rows += starts.map { ("started", $0) }
        rows.append(("length", "\(Figures.time(sidecar.durationSeconds)), \(sidecar.frames) frames\(preRoll)"))
        rows.append(("ended", ended))
        rows.append(("card", card))
        rows += filters
        rows += listed("gain", sidecar.gain) { change in "from \(time(change.atFrame)) on: \(change.text)" }
        for (index, level) in sidecar.levels.enumerated() { rows.append(("level \(index + 1)", text(level))) }
        for (index, part) in sidecar.parts.enumerated() { rows += lines(index, part, size) }
        rows += listed("gap", sidecar.gaps, text)
        rows += listed("suspected", sidecar.suspectedLosses, text)
        rows += listed("marker", notes?.markers(of: sidecar.markers) ?? sidecar.markers) { marker in
            text(marker)
        }
        if let format = sidecar.pendingFormat {
            rows.append(("pending", "it is still to be converted to \(format): its files will be replaced"))
        }
        if sidecar.restored == true {
            rows.append(("restored", "from the bin: it stays until it is deleted again, or its space is needed"))
        }
        return rows.map { name, text in name + String(repeating: " ", count: max(1, 11 - name.count)) + text }
    }

    private func text(_ marker: Sidecar.Marker) -> String {
        let place = time(marker.atFrame) + (marker.endFrame.map { " to \(time($0))" } ?? "")
        var band: String?
        switch (marker.lowHz, marker.highHz) {
        case (let low?, let high?): band = "\(Figures.short(low)) to \(Figures.short(high)) Hz"
        case (let low?, nil): band = "above \(Figures.short(low)) Hz"
        case (nil, let high?): band = "below \(Figures.short(high)) Hz"
        case (nil, nil): break
        }
        let details = [marker.by.map { "by \($0.printable)" }, marker.score.map { "score \($0)" }, band]
        return ([place, marker.label?.printable, marker.note?.printable] + details).compactMap(\.self).joined(
            separator: "  ")
    }

    private func lines(_ notes: TakeNotes?) -> [(String, String)] {
        guard let notes else { return [] }
        var rows: [(String, String)] = []
        if let title = notes.title { rows.append(("title", title.printable)) }
        if notes.starred { rows.append(("star", "yes")) }
        if !notes.tags.isEmpty { rows.append(("tags", notes.tags.map(\.printable).joined(separator: ", "))) }
        let texts = (notes.memo.map { [("memo", $0)] } ?? []) + (notes.otherMemos ?? []).map { ("other memo", $0) }
        for (name, text) in texts {
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                rows.append((index == 0 ? name : "", String(line).printable))
            }
        }
        return rows
    }

    /// The state of the sound, where it is worth a line.
    private func sound(_ notes: TakeNotes?, _ damage: String?) -> [(String, String)] {
        if let damage = damage ?? notes?.damage(of: sidecar) {
            return [
                ("damaged", damage.printable),
                ("", "it is neither sent nor deleted until 'fieldfare takes --damaged --accept \(sidecar.take)'"),
            ]
        }
        switch notes?.soundStanding(of: sidecar) {
        case .accepted: return [("sound", "not what was recorded: a person accepted it as it is")]
        case .later: return [("sound", "its fingerprint was computed later: damage before that is not known")]
        case .asRecorded: return [("sound", "as recorded")]
        case .damaged, nil: return []
        }
    }

    private var take: String {
        sidecar.take + (sidecar.revision > 1 ? ", revision \(sidecar.revision)" : "")
    }

    private var starts: [String] {
        func day(_ text: String) -> String {
            WallTime(iso8601: text) == nil
                ? text.printable : text.replacing("T", with: " ").replacing("Z", with: "")
        }
        let first = "\(day(sidecar.started)) UTC, \(sidecar.clock.past)"
        guard let corrected = sidecar.startedCorrected else { return [first] }
        return ["\(day(corrected)) UTC, worked out when the clock was set later", first]
    }

    private var preRoll: String {
        sidecar.preRollFrames > 0 ? ", \(sidecar.preRollFrames) of them from before the press" : ""
    }

    private var ended: String {
        var fields = ["by \(sidecar.endedBy?.rawValue ?? "unknown")"]
        if sidecar.recovered { fields.append("recovered") }
        if let start = sidecar.startedBy { fields.append("begun by \(start.rawValue)") }
        return fields.joined(separator: ", ")
    }

    private var card: String {
        var fields = [sidecar.card.printable, "\(sidecar.rateHz) Hz"]
        fields.append(ChannelLayout.text(channels: sidecar.channels, ofCard: sidecar.channelsOfCard))
        fields.append(sidecar.format.rawValue)
        if let gain = sidecar.gainDB { fields.append("gain \(Figures.short(gain)) dB") }
        if let agc = sidecar.agc { fields.append("AGC \(agc ? "on" : "off")") }
        if let drift = sidecar.clockDriftPPM { fields.append("clock \(Figures.short(drift, digits: 1)) ppm") }
        return fields.joined(separator: ", ")
    }

    private var filters: [(String, String)] {
        listed("filter", sidecar.filter) { change in
            let from = change.atFrame > .first ? "from \(time(change.atFrame)) on: " : ""
            return from + change.text
        }
    }

    private func text(_ level: Sidecar.Levels) -> String {
        "peak \(Figures.level(level.peakDBFS)), RMS \(Figures.level(level.rmsDBFS)) dBFS"
            + (level.clippedFrames > 0 ? ", \(level.clippedFrames) frames clipped" : "")
            + (level.filterClippedFrames > 0 ? ", \(level.filterClippedFrames) frames clipped by the filter" : "")
    }

    private func lines(
        _ index: Int, _ part: Sidecar.Part, _ size: (_ file: String) -> Int64?
    ) -> [(String, String)] {
        func file(_ name: String) -> String { "\(name), \(size(name).map(Figures.size) ?? "not there")" }
        let place = part.firstFrame > .first ? ", from \(time(part.firstFrame)) on" : ""
        let seconds = Figures.time(Double(part.frames) / Double(max(1, part.rateHz)))
        let rate = part.rateHz == sidecar.rateHz ? "" : ", \(part.rateHz) Hz"
        var rows = [("part \(index + 1)", "\(file(part.file)), \(seconds)\(place)\(rate)")]
        if let twin = part.unfilteredFile { rows.append(("", "\(file(twin)), unfiltered")) }
        if let card = part.place, index > 0, let before = sidecar.parts[index - 1].place, card != before {
            rows.append(("", "from \(card.summary.printable), instead of \(before.summary.printable)"))
        }
        return rows
    }

    private func text(_ gap: Sidecar.Gap) -> String {
        let milliseconds = Double(gap.frames) * 1000 / Double(max(1, sidecar.rateHz))
        let count = gap.gapCount > 1 ? "\(gap.gapCount) gaps, " : ""
        return
            "\(time(gap.atFrame))  \(count)\(gap.frames) frames, \(Figures.short(milliseconds)) ms silent: \(gap.cause.rawValue)"
    }

    private func text(_ loss: Sidecar.SuspectedLoss) -> String {
        "between \(time(loss.afterFrame)) and \(time(loss.beforeFrame))  \(loss.frames) frames, not filled in"
    }

    private func time(_ frame: TakeFrame) -> String {
        Figures.time(Double(frame.count) / Double(max(1, sidecar.rateHz)))
    }

    private func listed<Entry>(
        _ name: String, _ entries: [Entry], _ text: (Entry) -> String
    ) -> [(String, String)] {
        var rows = entries.prefix(Self.mostListed).map { (name, text($0)) }
        if entries.count > Self.mostListed {
            rows.append((name, "and \(entries.count - Self.mostListed) more: see 'fieldfare show --json'"))
        }
        return rows
    }
}

extension Sidecar.FilterChange {
    fileprivate var text: String {
        FilterText(lowPassHz: lowPassHz, highPassHz: highPassHz, slopeDBPerOctave: slopeDBPerOctave).text
    }
}

extension Sidecar.GainChange {
    fileprivate var text: String {
        let gain = gainDB.map { "\(Figures.short($0)) dB" }
        let control = agc.map { "AGC \($0 ? "on" : "off")" }
        return [gain, control].compactMap(\.self).joined(separator: ", ")
    }
}

extension ClockOrigin {
    /// The source of the date, in the past tense.
    fileprivate var past: String {
        switch self {
        case .ntp: "set over the network"
        case .rtc: "set by the battery-backed clock"
        case .manual: "set by hand"
        case .unset: "by a clock that was not set"
        }
    }
}
