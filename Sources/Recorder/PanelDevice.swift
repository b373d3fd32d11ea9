import Deck
import Doctor
import Lines
import Panel
public import Settings
import Takes
import Transport

/// The panel on real lines: edges become gestures, what is to be told becomes lit lamps.
final class PanelDevice: FrontPanel {
    private var lines: ButtonLines
    private var lampLines: LampLines
    private var input: PanelInput
    private var display: Display
    /// The lamps that the settings wire.
    let lamps: [Lamp]
    private let log: Log
    private var shown: Indication?
    /// The only lamp that is lit, whatever is to be told; nil: all tell what they have to.
    var litAlone: Lamp?
    private var nextCheck = Instant(nanoseconds: 0)

    /// How often it is seen to that the buttons' lines are still there. It wakes nobody: done when the loop turns anyway.
    private static let checkInterval = Duration.seconds(2)

    /// Opens the lines that the settings name. One that cannot be had is reported, and the panel goes on without it.
    init(settings: Settings.Panel, log: Log) {
        self.log = log
        var errors: [LineError] = []
        let buttons = settings.buttons
        lines = ButtonLines(
            opening: Button.allCases.map { InputLine(buttons[$0]) }, errors: &errors)
        let outputs: [(Lamp, LampOutput)] = Lamp.allCases.compactMap { lamp in
            LampOutput(settings.leds[lamp]).map { (lamp, $0) }
        }
        lamps = outputs.map(\.0)
        lampLines = LampLines(opening: outputs.map(\.1), errors: &errors)
        display = Display(lamps: Set(lamps))
        let timing = PanelTiming(
            debounce: settings.debounce, hold: settings.hold, shutdownHold: settings.shutdownHold)
        var down: Set<Button> = []
        for (index, button) in Button.allCases.enumerated() where lines.isActive(index) ?? false {
            down.insert(button)
        }
        input = PanelInput(timing: timing, down: down)
        report(errors)
        for button in down {
            log.write(
                Report(.warning, "buttons: \(button.rawValue): held down at the start: not heard until it is released"))
        }
    }

    /// Hears the buttons through a loop.
    func watch(on loop: Loop, of deck: Deck, quit: @escaping () -> Void) {
        guard lines.fileDescriptor >= 0 else { return }
        loop.watch(lines.fileDescriptor) { [unowned self] in hear() }
    }

    private func hear() {
        let (edges, errors) = lines.readEdges()
        report(errors)
        for edge in edges {
            input.edge(Edge(Button.allCases[edge.index], isDown: edge.isActive, at: edge.at))
        }
    }

    /// The gestures that are decided by `now`.
    func gestures(at now: Instant) -> [Gesture] {
        guard lines.fileDescriptor >= 0 else { return [] }
        hear()
        if now >= nextCheck {
            nextCheck = now + Self.checkInterval
            report(lines.check())
        }
        return input.advance(to: now) { [self] button in
            lines.isActive(Button.allCases.firstIndex(of: button) ?? 0)
        }
    }

    /// When a gesture may be decided next.
    var nextGesture: Instant? { input.nextDeadline }

    /// Lights the lamps for what is to be told.
    /// - Returns: when they change next by themselves.
    func show(_ indication: Indication, at now: Instant) -> Instant? {
        if indication != shown {
            shown = indication
            display.show(indication, at: now)
        }
        light(litAlone.map { [$0] } ?? display.lit(at: now))
        return display.nextChange(after: now)
    }

    /// What a check-up learns of the lines that are open here.
    var openLines: OpenLines? {
        OpenLines(
            buttons: Button.allCases.indices.map { lines.isActive($0) },
            lamps: Set(lamps.indices.filter { lampLines.works($0) }.map { lamps[$0] }))
    }

    /// Puts out all lamps.
    func goDark() {
        light([])
    }

    /// Puts out all lamps, and leaves the one for faults to flash `code` without this process, where the kernel can.
    func leave(showing code: Fault.Code) {
        goDark()
        let segments = BlinkPattern.fault(code).segments.map { LampSegment(isLit: $0.isLit, length: $0.length) }
        for (index, lamp) in lamps.enumerated() where lamp == .fault || lamp == .all {
            if let error = lampLines.leave(index, segments) { report([error]) }
        }
    }

    private func light(_ wanted: Set<Lamp>) {
        for (index, lamp) in lamps.enumerated() {
            if let error = lampLines.set(index, wanted.contains(lamp)) { report([error]) }
        }
    }

    private func report(_ errors: [LineError]) {
        for error in errors { log.write(Report(.error, "\(error)")) }
    }
}

extension Recorder {
    /// Puts out all lamps, as after an exit that did not do so itself: real lines keep their level when their owner
    /// dies. Where the fault lamp is an LED device, it flashes 4 from then on: nobody records.
    public static func putOutLamps(_ settings: Settings, log: Log = Log()) {
        let panel = PanelDevice(settings: settings.panel, log: log)
        panel.leave(showing: .storageFailing)
    }
}
