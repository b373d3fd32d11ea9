import Foundation
import Settings
import TestBench
import Testing

@testable import Kit

/// Detection of a nearly empty battery, from files with the kernel's content.
@Suite struct BatteryTests {
    private let folder = TestFolder()

    private func write(_ text: String, to name: String) -> String {
        folder.write(text, to: name)
        return "\(folder.path)/\(name)"
    }

    private func power(line: Settings.ButtonLine? = nil, supply: String? = nil, least: Double? = nil) -> Settings.Power
    {
        var power = Settings().power
        (power.lowBattery, power.supply, power.lowVolts) = (line, supply, least)
        return power
    }

    @Test func `the kernel's files are read in their units`() throws {
        let supply = write("3712000\n", to: "voltage_now")
        #expect(SupplyVoltage(path: supply, ratio: 1).read() == 3.712)
        #expect(SupplyVoltage(path: write("5021\n", to: "in0_input"), ratio: 2).read() == 10.042)
        let raw = write("1001\n", to: "in_voltage0_raw")
        #expect(SupplyVoltage(path: raw, ratio: 1).read() == nil)
        _ = write("2\n", to: "in_voltage_scale")
        #expect(SupplyVoltage(path: raw, ratio: 2).read() == 4.004)
        _ = write("0.5\n", to: "in_voltage0_scale")
        _ = write("-1\n", to: "in_voltage0_offset")
        #expect(SupplyVoltage(path: raw, ratio: 2).read() == 1)
        for text in ["", "much\n"] {
            _ = write(text, to: "voltage_now")
            #expect(SupplyVoltage(path: supply, ratio: 1).read() == nil)
        }
        #expect(SupplyVoltage(path: folder.path + "/none_raw", ratio: 1).read() == nil)
    }

    @Test func `a voltage below the least is low, and one that cannot be read is said`() throws {
        let path = write("3300000", to: "voltage_now")
        let battery = try #require(Battery(power(supply: path, least: 3.4)))
        #expect(battery.read() == .low("the supply has 3.3 V, less than 3.4 V"))
        _ = write("3400000", to: "voltage_now")
        #expect(battery.read() == .good)
        // A channel that is not connected, and a voltage at which the kit could just run.
        _ = write("0", to: "voltage_now")
        #expect(
            battery.read()
                == .unreadable("\(path): it says 0.0 V, by which no kit would run: see [power] supply and its wiring"))
        _ = write("1700000", to: "voltage_now")
        #expect(battery.read() == .low("the supply has 1.7 V, less than 3.4 V"))
        _ = write("nan", to: "voltage_now")
        #expect(battery.read() == .unreadable("\(path): it gives no voltage: see [power] supply"))
        try FileManager.default.removeItem(atPath: path)
        #expect(battery.read() == .unreadable("\(path): it gives no voltage: see [power] supply"))
    }

    @Test func `a line that is not there is said, and what is low counts before it`() throws {
        let path = write("3000000", to: "voltage_now")
        let line = Settings.ButtonLine(.offset(chip: "gpiochip77", offset: 1))
        let alone = try #require(Battery(power(line: line)))
        guard case .unreadable(let why) = alone.read() else { return #expect(Bool(false)) }
        #expect(why.contains("gpiochip77") || why.contains("chip"), "\(why)")
        let both = try #require(Battery(power(line: line, supply: path, least: 3.4)))
        #expect(both.read() == .low("the supply has 3.0 V, less than 3.4 V"))
        #expect(Battery(power()) == nil && Battery(power(supply: path)) == nil)
    }

    @Test func `it is nearly empty once it was low four times in a row, which is said once`() {
        var level = BatteryLevel()
        func take(_ readings: BatteryLevel.Reading...) -> [BatteryLevel.Outcome] {
            readings.compactMap { level.take($0) }
        }
        let low = BatteryLevel.Reading.low("low")
        #expect(take(low, low, low, .good, low, low, low) == [])
        #expect(take(.unreadable("gone"), .unreadable("gone")) == [.unreadable("gone")])
        #expect(take(low, low, low) == [.readable])
        #expect(take(low) == [.low("low")])
        #expect(take(low, .good, low, low, low, low, .unreadable("gone")) == [])
    }
}
