import Files

/// The supply voltage, on boards that measure it, such as a Raspberry Pi. A weak supply damages storage and recordings.
package struct PowerCheck {
    /// The firmware's flags, or nil if the kernel does not report them. Bit 0 means that the voltage is low, and bit 3
    /// that the processor is too hot; bits 16 and 19 mean that this happened since boot.
    ///
    /// Source: `get_throttled` of vcgencmd, in the Raspberry Pi documentation.
    package var throttled: UInt32?
    /// The alarm of the driver `raspberrypi-hwmon`, or nil without this driver.
    package var alarm: Bool?
    /// Whether the board is a Raspberry Pi. Most of these measure the voltage.
    var isRaspberryPi: Bool

    /// - Parameter root: the folder that contains `/sys` and `/proc`.
    package init(root: String = "") {
        let path = root + "/sys/devices/platform/soc/soc:firmware/get_throttled"
        throttled = SystemFile.firstLine(path).flatMap { text in
            UInt32(text.hasPrefix("0x") ? text.dropFirst(2) : text[...], radix: 16)
        }
        let monitors = root + "/sys/class/hwmon"
        alarm = SystemFile.names(in: monitors)
            .first { SystemFile.firstLine("\(monitors)/\($0)/name") == "rpi_volt" }
            .flatMap { SystemFile.firstLine("\(monitors)/\($0)/in0_lcrit_alarm") }
            .map { $0 != "0" }
        isRaspberryPi = SystemFile.words(root + "/proc/device-tree/model")?.hasPrefix("Raspberry Pi") ?? false
    }

    /// Empty on boards that do not measure the voltage, except a Raspberry Pi.
    var findings: [Finding] {
        guard throttled != nil || alarm != nil else {
            return isRaspberryPi
                ? [.ok(.power, "this kernel has no driver for the alarm of the supply voltage: it is not known")] : []
        }
        let bits = throttled ?? 0
        let figures = ["throttled": throttled.map { Figure.count($0) } ?? .unknown]
        var found: [Finding] = []
        let advice = "use a stronger supply and a shorter, thicker cable"
        if bits & 1 != 0 || alarm == true {
            found.append(.failure(.power, "the supply voltage is too low now: \(advice)", figures))
        } else if bits & 1 << 16 != 0 {
            found.append(.warning(.power, "the supply voltage was too low since the last boot: \(advice)", figures))
        }
        if bits & 1 << 3 != 0 {
            found.append(.warning(.power, "the processor is too hot: give it air or shade", figures))
        }
        return found.isEmpty ? [.ok(.power, "the supply voltage is right", figures)] : found
    }
}
