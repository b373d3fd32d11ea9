import Doctor
import Lines
import Settings

/// The battery inputs that the settings name: a line, a voltage or both.
final class Battery {
    private let input: InputLine?
    private var lines: ButtonLines?
    private let voltage: Voltage?

    private struct Voltage {
        var sensor: SupplyVoltage
        var path: String
        /// Volts. A lower voltage counts as low.
        var least: Double
    }

    /// - Returns: nil if the settings name no input.
    init?(_ settings: Settings.Power) {
        input = InputLine(settings.lowBattery)
        voltage = settings.lowVolts.flatMap { least in
            settings.supply.map { path in
                Voltage(sensor: SupplyVoltage(path: path, ratio: settings.supplyRatio), path: path, least: least)
            }
        }
        if input == nil, voltage == nil { return nil }
    }

    /// Reads all inputs. A low reading takes precedence over an unreadable input.
    func read() -> BatteryLevel.Reading {
        let readings = [readLine(), readVoltage()].compactMap(\.self)
        let low = readings.first { if case .low = $0 { true } else { false } }
        return low ?? readings.first { $0 != .good } ?? .good
    }

    private func readLine() -> BatteryLevel.Reading? {
        guard let input else { return nil }
        if lines == nil || lines?.isOpen(0) != true {
            var errors: [LineError] = []
            lines = ButtonLines(opening: [input], errors: &errors)
            if let error = errors.first { return .unreadable(error.description) }
        }
        guard let isActive = lines?.isActive(0) else {
            lines = nil
            return .unreadable("\(input.address): the line cannot be read")
        }
        return isActive ? .low("the line \(input.address) says that the battery is low") : .good
    }

    private func readVoltage() -> BatteryLevel.Reading? {
        guard let voltage else { return nil }
        guard let volts = voltage.sensor.read() else {
            return .unreadable("\(voltage.path): it gives no voltage: see [power] supply")
        }
        guard volts < voltage.least else { return .good }
        // The cause is an open channel, or a converter that is switched off.
        guard volts >= voltage.least / 2 else {
            return .unreadable(
                "\(voltage.path): it says \(Self.text(volts)), by which no kit would run: see [power] supply and its wiring"
            )
        }
        return .low("the supply has \(Self.text(volts)), less than \(Self.text(voltage.least))")
    }

    private static func text(_ volts: Double) -> String { "\((volts * 100).rounded() / 100) V" }
}

/// Decides from the readings whether the battery is nearly empty.
struct BatteryLevel {
    enum Reading: Equatable, Sendable {
        case good
        /// The text says why it is low.
        case low(String)
        /// The text says why it cannot be read.
        case unreadable(String)
    }

    enum Outcome: Equatable, Sendable {
        /// The battery is nearly empty. Returned once.
        case low(String)
        case unreadable(String)
        /// The first reading after an unreadable one.
        case readable
    }

    private enum State {
        case good
        /// The number of consecutive low readings.
        case low(Int)
        case unreadable
        case empty
    }

    /// The battery counts as empty after this many consecutive low readings: switching on a card or a lamp pulls the
    /// voltage down for a moment.
    static let readings = 4
    private var state = State.good

    mutating func take(_ reading: Reading) -> Outcome? {
        if case .empty = state { return nil }
        let before = state
        switch reading {
        case .unreadable(let why):
            state = .unreadable
            if case .unreadable = before { return nil }
            return .unreadable(why)
        case .good: state = .good
        case .low(let why):
            var count = 1
            if case .low(let earlier) = before { count += earlier }
            state = count < Self.readings ? .low(count) : .empty
            if case .empty = state { return .low(why) }
        }
        if case .unreadable = before { return .readable }
        return nil
    }
}
