import Control
import Takes

/// The outbox as text for a person.
struct OutboxText {
    var showsUnicode: Bool

    private static let barWidth = 20

    func lines(_ report: OutboxReport) -> [String] {
        guard !report.stores.isEmpty else { return ["no store is named: [outbox] store"] }
        var lines: [String] = []
        if report.paused { lines.append("paused: 'fieldfare outbox resume' sends again") }
        for store in report.stores {
            lines.append(line(store))
            if let why = store.why { lines.append("  \(why.printable)" + attempted(store.until)) }
            if let why = store.whyUnverified { lines.append("  \(why.printable)") }
        }
        for take in report.takes { lines += self.lines(take, namesStore: report.stores.count > 1) }
        return lines
    }

    private func line(_ store: OutboxReport.Store) -> String {
        var parts = ["\(store.waiting) waiting"]
        if store.waiting > 0 { parts[0] += " (\(size(store.waitingBytes)))" }
        if store.elsewhere > 0 { parts.append("\(store.elsewhere) elsewhere") }
        if store.held > 0 { parts.append("\(store.held) held") }
        parts.append("\(store.done) done")
        if let count = store.unverified, count > 0 { parts.append("\(count) of them not verified") }
        let state =
            switch store.state {
            case .ready: "ready"
            case .waiting: "cannot be reached"
            case .refused: "refuses"
            case .closed: "outside its hours" + attempted(store.until)
            case .mayBePulled: "may be pulled"
            case .stickOffered: "not adopted"
            }
        return "\(store.store.printable): \(state): \(parts.joined(separator: ", "))"
    }

    private func lines(_ take: OutboxReport.Take, namesStore: Bool) -> [String] {
        let place = namesStore ? " \(take.store.printable)" : ""
        switch take.state {
        case .sending, .verifying:
            let sent = take.sentBytes ?? 0
            let share = take.bytes > 0 ? Double(sent) / Double(take.bytes) : 0
            let done = Int((min(1, max(0, share)) * Double(Self.barWidth)).rounded(.down))
            let (full, empty) = showsUnicode ? ("█", "░") : ("#", ".")
            let bar = String(repeating: full, count: done) + String(repeating: empty, count: Self.barWidth - done)
            let phase = take.state == .verifying ? "verifying" : "\(size(sent)) of \(size(take.bytes))"
            return ["  \(take.take.printable)\(place)  \(bar)  \(phase)"]
        case .waiting: return ["  \(take.take.printable)\(place)  waiting, \(size(take.bytes))"]
        case .held:
            return ["  \(take.take.printable)\(place)  held: \((take.why ?? "").printable)\(attempted(take.until))"]
        }
    }

    private func attempted(_ until: String?) -> String {
        guard let until else { return "" }
        return ", until \(until.prefix(16).replacing("T", with: " ")) UTC"
    }

    private func size(_ bytes: Int64) -> String {
        bytes < 10_000_000 ? "\((bytes + 999) / 1000) kB" : "\(bytes / 1_000_000) MB"
    }
}
