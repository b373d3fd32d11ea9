import Files
package import Settings

/// The voltage of the supply, from a file of the kernel.
package struct SupplyVoltage: Sendable {
    private let path: String
    /// Supply volts per volt at the sensor.
    private let ratio: Double
    private let unit: Unit

    /// The unit of the kernel's file.
    ///
    /// Source: Documentation/ABI/testing/sysfs-bus-iio and sysfs-class-power, and hwmon/sysfs-interface.rst.
    private enum Unit {
        /// `in_voltageN_raw` of the industrial I/O: steps of a scale in millivolts, which is in a neighbouring file.
        case steps
        /// `inN_input` of hwmon, and `in_voltageN_input`.
        case millivolts
        /// `voltage_now` of a power supply.
        case microvolts
    }

    /// - Parameter path: absolute.
    init(path: String, ratio: Double) {
        self.path = path
        self.ratio = ratio
        unit = path.hasSuffix("_raw") ? .steps : path.hasSuffix("_input") ? .millivolts : .microvolts
    }

    /// Returns nil if the settings name no supply file.
    package init?(_ settings: Settings.Power) {
        guard let path = settings.supply else { return nil }
        self.init(path: path, ratio: settings.supplyRatio)
    }

    /// Volts, or nil if the file cannot be read.
    func read() -> Double? {
        guard let value = Self.number(path), let volts = volts(value), volts.isFinite else { return nil }
        return volts * ratio
    }

    private func volts(_ value: Double) -> Double? {
        switch unit {
        case .microvolts: return value / 1e6
        case .millivolts: return value / 1e3
        case .steps:
            let own = path.dropLast("_raw".count)
            // The scale of this channel, otherwise that of the whole device.
            let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
            guard let scale = Self.number(own + "_scale") ?? Self.number(folder + "/in_voltage_scale") else {
                return nil
            }
            let offset = Self.number(own + "_offset") ?? Self.number(folder + "/in_voltage_offset") ?? 0
            return (value + offset) * scale / 1e3
        }
    }

    private static func number(_ path: some StringProtocol) -> Double? {
        SystemFile.firstLine(String(path)).flatMap { Double($0) }
    }
}
