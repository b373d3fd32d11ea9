import Takes
import Transport

/// A status as a few aligned lines.
struct StatusText {
    private let status: Status

    init(_ status: Status) {
        self.status = status
    }

    var lines: [String] {
        var rows: [(String, String)] = [("state", state)]
        if let take = status.take { rows.append(("take", take)) }
        if let selected = status.selected, selected != status.take { rows.append(("selected", selected)) }
        if let time { rows.append(("time", time)) }
        if !status.isAsRecorded { rows.append(("playback", status.tuningText)) }
        rows.append(("level", level))
        rows.append(("card", card))
        if let gain = status.gainText { rows.append(("gain", gain)) }
        rows.append(("filter", status.filterText))
        if status.gaps > 0 || status.xruns > 0 {
            rows.append(("lost", "\(status.gaps) gaps in this take, \(status.xruns) overruns of the card"))
        }
        rows.append(("space", space))
        rows.append(("clock", status.clock.text))
        if let hours = status.scheduled {
            rows.append(("schedule", "records from \(minute(hours.from)) to \(minute(hours.until)) UTC"))
        }
        if status.pairing { rows.append(("pairing", "phones may pair for 2 minutes")) }
        if status.faults.isEmpty { rows.append(("faults", "none")) }
        for fault in status.faults { rows.append(("fault \(fault.code.rawValue)", fault.message)) }
        return rows.map { name, text in name + String(repeating: " ", count: 10 - name.count) + text }
    }

    private func minute(_ time: String) -> String { String(time.prefix(16)).replacing("T", with: " ") }

    private var state: String {
        switch status.state {
        case .idle: status.armed ? "idle, armed: press record and it records" : "idle, not armed"
        case .recording, .playing, .paused: status.state.rawValue
        case .fault: "fault: it cannot record"
        }
    }

    private var time: String? {
        switch status.state {
        case .recording: status.recordedText
        case .playing, .paused: status.playedText
        case .idle, .fault: nil
        }
    }

    private var level: String {
        guard !status.levelDBFS.isEmpty else { return "none" }
        let peaks = status.levelDBFS.map { Figures.level($0.peak) }.joined(separator: "  ")
        let means = status.levelDBFS.map { Figures.level($0.rms) }.joined(separator: "  ")
        return "peak \(peaks)  RMS \(means) dBFS"
    }

    private var card: String {
        guard let card = status.card else { return "none" }
        var fields = [card]
        if let rate = status.rateHz { fields.append("\(rate) Hz") }
        if let channels = status.channels {
            fields.append(ChannelLayout.text(channels: channels, ofCard: status.channelsOfCard))
        }
        if let format = status.format { fields.append(format.rawValue) }
        return fields.joined(separator: ", ")
    }

    private var space: String {
        guard let free = status.freeBytes else { return "unknown" }
        let room = status.timeLeftSeconds.map { ", room for \(Figures.lasting($0))" } ?? ""
        return "\(Figures.size(free)) free\(room)"
    }
}

extension Status {
    /// `0:01:23.4, on disk up to 0:01:22.6`.
    var recordedText: String {
        "\(Figures.time(elapsedSeconds)), on disk up to \(Figures.time(syncedSeconds))"
    }

    /// `0:00:03.0 of 0:01:23.4`.
    var playedText: String {
        "\(Figures.time(positionSeconds ?? 0)) of \(Figures.time(elapsedSeconds))"
    }

    /// State, take and time on one line.
    var situation: String {
        let time: String
        switch state {
        case .recording: time = recordedText
        case .playing, .paused: time = playedText + (isAsRecorded ? "" : ", \(tuningText)")
        case .idle: return armed ? "idle, armed" : "idle, not armed"
        case .fault: return "fault: it cannot record"
        }
        return [state.rawValue, take, time].compactMap(\.self).joined(separator: " ")
    }

    /// Whether takes are played at their recorded pitch and speed.
    var isAsRecorded: Bool { pitchCents == 0 && speed == 1 }

    /// `pitch -1200 cents, speed 0.1 expanded`.
    var tuningText: String {
        "pitch \(pitchCents) cents, speed \(Figures.short(speed, digits: 4))" + (expand ? " expanded" : "")
    }

    var filterText: String {
        FilterText(lowPassHz: lowPassHz, highPassHz: highPassHz, slopeDBPerOctave: slopeDBPerOctave).text
    }
}

extension ClockOrigin {
    /// The source of the date, for a person.
    var text: String {
        switch self {
        case .ntp: "set over the network"
        case .rtc: "set by the battery-backed clock"
        case .manual: "set by hand"
        case .unset: "not set: dates are not to be trusted: set it with 'fieldfare clock set'"
        }
    }
}
