import Control
import Takes
import Transport

/// The lines that `watch` shows in a terminal: the situation, the meters and the faults.
struct LiveView {
    var status: Status
    var hold = PeakHold()
    /// A sentence about the connection while it is lost.
    var notice: String?

    mutating func update(_ event: Event, at now: Instant) {
        switch event {
        case .status(let status): self.status = status
        case .level(let level):
            status.levelDBFS = level.levelDBFS
            status.frames = level.frames
            status.elapsedSeconds = level.elapsedSeconds
            status.syncedSeconds = level.syncedSeconds
            status.positionSeconds = level.positionSeconds
        case .peaks: return
        case .take, .panel: return
        }
        hold.update(status.levelDBFS, at: now)
    }

    /// The picture. Each line has at most `width` columns.
    func lines(width: Int, glyphs: Meter.Glyphs) -> [String] {
        var lines = [status.situation]
        if let notice {
            lines.append(notice)
        } else {
            let meter = Meter(width: width, glyphs: glyphs)
            if !status.levelDBFS.isEmpty { lines.append(meter.scale) }
            for (index, level) in status.levelDBFS.enumerated() {
                lines.append(meter.bar(channel: index + 1, level: level, held: hold.peaks[index]))
            }
        }
        for fault in status.faults { lines.append("fault \(fault.code.rawValue): \(fault.message)") }
        return lines.map { $0.count <= width ? $0 : $0.prefix(max(0, width - 1)) + ">" }
    }

    /// The picture as one line, for a file.
    var line: String {
        let peaks = status.levelDBFS.map { Figures.level($0.peak) }.joined(separator: " ")
        return status.situation + (peaks.isEmpty ? "" : ", peak \(peaks) dBFS")
            + status.faults.map { ", fault \($0.code.rawValue): \($0.message)" }.joined()
    }
}
