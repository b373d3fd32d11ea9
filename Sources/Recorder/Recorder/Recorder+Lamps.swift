import Doctor
import Lines
import Panel
public import Settings
import Transport

extension Recorder {
    /// Switches all lamps off, as after an exit that left them on: real lines keep their level when their process ends.
    /// If the fault lamp is an LED device, it flashes 4 from then on, since no recorder runs. Without pattern support
    /// in the kernel it blinks steadily; a single lamp for all does not, because steady blinking would mean a
    /// recording.
    public static func putOutLamps(_ settings: Settings, log: Log = Log()) {
        var errors: [LineError] = []
        let outputs = LampLines.wired(by: settings.panel.leds)
        var lines = LampLines(opening: outputs.map(\.output), errors: &errors)
        let fault = BlinkPattern.fault(.storageFailing)
        let segments = fault.segments.map { LampSegment(isLit: $0.isLit, length: $0.length) }
        for (index, output) in outputs.enumerated() where output.lamp == .fault || output.lamp == .all {
            if let error = lines.leave(index, segments, mayBlink: output.lamp == .fault) { errors.append(error) }
        }
        log.write(errors)
    }
}

extension LampLines {
    static func wired(by settings: Settings.LEDs) -> [(lamp: Lamp, output: LampOutput)] {
        Lamp.allCases.compactMap { lamp in LampOutput(settings[lamp]).map { (lamp, $0) } }
    }
}
