import Deck
import Doctor
import Glibc
import Panel
import Simulation
import Takes
import Transport
import Workers

/// The panel of a simulated board: keys and a picture in the terminal, or nothing without a terminal.
final class SimulatedPanel: FrontPanel {
    private let terminal: TerminalPanel?
    private let log: Log
    private(set) var fileDescriptor: Int32 = -1

    /// - Parameter terminal: nil for a panel without keys and display.
    init(_ terminal: TerminalPanel?, log: Log) {
        self.terminal = terminal
        self.log = log
    }

    func start() {
        guard let terminal else { return }
        do {
            try terminal.begin()
            fileDescriptor = terminal.fileDescriptor
        } catch {
            log.write(Report(.error, "\(error)"))
        }
    }

    func deliver(to deck: Deck, at now: Instant) {
        for key in terminal?.keys() ?? [] {
            switch key {
            case .record: deck.handle(.press(.record, at: now))
            case .stop: deck.handle(.press(.stop, at: now))
            case .play: deck.handle(.press(.play, at: now))
            case .back: deck.handle(.press(.back, at: now))
            case .forward: deck.handle(.press(.forward, at: now))
            case .mark:
                deck.perform(.mark(note: nil)) { [log] result in
                    switch result {
                    case .success: break
                    case .failure(let refusal): log.write(Report(.notice, refusal.message))
                    }
                }
            case .quit:
                // A terminal that does not pass each key on sends this signal itself.
                kill(getpid(), SIGINT)
            }
        }
    }

    func show(_ indication: Indication, at now: Instant, readout: () -> PanelReadout) -> Instant? {
        terminal?.show(indication, at: now, readout: readout)
    }

    let lamps: [Lamp] = []
    var litAlone: Lamp?
    var openLines: OpenLines? { nil }

    func goDark() {
        terminal?.end()
    }
}

extension PanelReadout {
    init(_ status: Status) {
        self.init()
        var fields = [status.card ?? "no card"]
        if let rate = status.rateHz { fields.append("\(rate) Hz") }
        if let channels = status.channels {
            fields.append(ChannelLayout.text(channels: channels, ofCard: status.channelsOfCard))
        }
        if let format = status.format { fields.append(format.rawValue) }
        title = "Fieldfare \(status.version)   \(fields.joined(separator: ", "))"
        switch status.state {
        case .idle, .fault:
            state = status.armed ? "armed: press r and it records" : "not armed"
            time = status.selected.map { "selected: \($0)" } ?? ""
        case .recording:
            state = "recording \(status.take ?? "")"
            time = "\(Self.time(status.elapsedSeconds)), on disk up to \(Self.time(status.syncedSeconds))"
        case .playing, .paused:
            state = "\(status.state.rawValue) \(status.take ?? "")"
            time = "\(Self.time(status.positionSeconds ?? 0)) of \(Self.time(status.elapsedSeconds))"
        }
        levels = status.levelDBFS.map { Level(peak: $0.peak, rms: $0.rms) }
        trouble = status.faults.first.map { "fault \($0.code.rawValue): \($0.message)" } ?? ""
    }

    /// Minutes, seconds and tenths, rounded down: `1:23.4`.
    static func time(_ seconds: Double) -> String {
        let tenths = Int64(max(0, min(seconds, 1e9)) * 10 + 1e-6)
        let second = tenths / 10 % 60
        return "\(tenths / 600):\(second < 10 ? "0" : "")\(second).\(tenths % 10)"
    }
}
