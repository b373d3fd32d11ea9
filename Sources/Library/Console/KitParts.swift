import Files

/// The parts of this machine that settings depend on. A page offers only the settings of parts that are there.
///
/// Source: the kernel's documents `admin-guide/pm/cpufreq`, `ABI/stable/sysfs-class-rfkill`,
/// `ABI/testing/sysfs-class-power`, `ABI/testing/sysfs-bus-iio` and `hwmon/sysfs-interface`, and `rtcwake(8)`.
struct KitParts: Encodable, Equatable {
    /// Whether there are GPIO lines, for buttons and lamps.
    var lines: Bool
    /// Whether a sound card plays.
    var playback: Bool
    var wifi: Bool
    var hdmi: Bool
    /// Whether a clock chip can switch the machine on.
    var alarm: Bool
    /// By what the kernel can choose the processor's clock; empty if the clock is fixed.
    var governors: [String]
    /// The sensors that may measure the supply.
    var supplies: [Supply]

    /// A file with a voltage.
    struct Supply: Encodable, Equatable {
        var path: String
        /// The sensor's name.
        var name: String
    }

    /// - Parameter root: the folder of the kernel's files, usually `/sys`.
    init(root: String) {
        func names(in folder: String) -> [String] { SystemFile.names(in: "\(root)/\(folder)") }
        lines = !names(in: "bus/gpio/devices").isEmpty
        playback = names(in: "class/sound").contains { $0.wholeMatch(of: /pcmC[0-9]+D[0-9]+p/) != nil }
        wifi = names(in: "class/rfkill").contains {
            SystemFile.firstLine("\(root)/class/rfkill/\($0)/type") == "wlan"
        }
        hdmi = names(in: "class/drm").contains { $0.contains("-HDMI-") }
        alarm = SystemFile.firstLine("\(root)/class/rtc/rtc0/device/power/wakeup") == "enabled"
        governors =
            names(in: "devices/system/cpu/cpufreq").filter { $0.hasPrefix("policy") }.lazy
            .compactMap {
                SystemFile.firstLine("\(root)/devices/system/cpu/cpufreq/\($0)/scaling_available_governors")
            }
            .first?.split(separator: " ").map(String.init) ?? []
        supplies = Self.sensors.flatMap { folder, isVoltage in
            names(in: folder).flatMap { device in
                names(in: "\(folder)/\(device)").filter(isVoltage).map { file in
                    let name = SystemFile.words("\(root)/\(folder)/\(device)/name") ?? device
                    return Supply(path: "\(root)/\(folder)/\(device)/\(file)", name: name)
                }
            }
        }
    }

    /// The folders of devices, and which of a device's files are voltages.
    private static let sensors: [(folder: String, isVoltage: @Sendable (String) -> Bool)] = [
        ("class/power_supply", { $0 == "voltage_now" }),
        ("bus/iio/devices", { $0.wholeMatch(of: /in_voltage[0-9]+(_raw|_input)/) != nil }),
        ("class/hwmon", { $0.wholeMatch(of: /in[0-9]+_input/) != nil }),
    ]
}
