import Deck
import Doctor
import Panel
import Simulation
import Takes
import Transport

/// The panel of a simulated board: the terminal's keys and a picture on it, or without a terminal nothing at all.
final class SimulatedPanel: FrontPanel {
    private let terminal: TerminalPanel?
    private let clock: any Clock
    private let log: Log
    private var gestures: [Gesture] = []
    private weak var deck: Deck?
    private var quit: () -> Void = {}

    /// - Parameter terminal: nil: there are no keys, and nothing is shown.
    init(_ terminal: TerminalPanel?, clock: any Clock, log: Log) {
        self.terminal = terminal
        self.clock = clock
        self.log = log
    }

    func watch(on loop: Loop, of deck: Deck, quit: @escaping () -> Void) {
        self.deck = deck
        self.quit = quit
        guard let terminal else { return }
        do {
            try terminal.begin()
            loop.watch(terminal.fileDescriptor) { [unowned self] in hear() }
        } catch {
            log.write(Report(.error, "\(error)"))
        }
    }

    private func hear() {
        let now = clock.now()
        for key in terminal?.keys() ?? [] {
            if let button = Button(rawValue: key.rawValue) {
                gestures.append(.press(button, at: now))
            } else if key == .mark {
                mark()
            } else if key == .quit {
                quit()
            }
        }
    }

    private func mark() {
        deck?.perform(.mark(note: nil)) { [log] result in
            switch result {
            case .success: break
            case .failure(let refusal): log.write(Report(.notice, refusal.message))
            }
        }
    }

    func gestures(at now: Instant) -> [Gesture] {
        defer { gestures = [] }
        return gestures
    }

    var nextGesture: Instant? { nil }

    func show(_ indication: Indication, at now: Instant) -> Instant? {
        terminal?.show(indication, at: now) { deck.map { PanelReadout($0.status) } ?? PanelReadout() }
    }

    let lamps: [Lamp] = []
    var litAlone: Lamp?
    var openLines: OpenLines? { nil }

    func goDark() {
        terminal?.end()
    }
}

extension PanelReadout {
    /// What a status says, in words.
    init(_ status: Status) {
        self.init()
        var fields = [status.card ?? "no card"]
        if let rate = status.rateHz { fields.append("\(rate) Hz") }
        if let channels = status.channels { fields.append(channels == 1 ? "1 channel" : "\(channels) channels") }
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

    /// Minutes, seconds and tenths, never later than it is: `1:23.4`.
    static func time(_ seconds: Double) -> String {
        let tenths = Int64(max(0, min(seconds, 1e9)) * 10 + 1e-6)
        let second = tenths / 10 % 60
        return "\(tenths / 600):\(second < 10 ? "0" : "")\(second).\(tenths % 10)"
    }
}
