import Files
import Settings

/// The kernel's files that control the processor's clock, Wi-Fi and HDMI.
///
/// Source: the kernel's documents `admin-guide/pm/cpufreq`, `ABI/stable/sysfs-class-rfkill`, and `status` of a DRM
/// connector.
struct PowerSwitches {
    /// The folder of the kernel's files, usually `/sys`.
    var root: String

    private static let files = FileSystem()

    /// Applies the settings.
    /// - Returns: the changes that were made and those that failed, one sentence each.
    func set(as power: Settings.Power) -> (done: [String], failures: [String]) {
        var (done, failures) = ([String](), [String]())
        func set(_ what: String, in found: [String], to value: String, _ word: String) {
            guard !found.isEmpty else {
                failures.append("\(what): this machine has no such switch: set it to \"keep\" in [power]")
                return
            }
            for path in found {
                do throws(FileError) {
                    try Self.files.write(Array(value.utf8), to: try Self.files.open(path), at: 0)
                    done.append("\(what): \(word) (\(path))")
                } catch {
                    failures.append("\(what): \(word) cannot be set: \(error.fact)")
                }
            }
        }
        if let governor = power.governor {
            let policies = paths(in: "devices/system/cpu/cpufreq", "scaling_governor") { $0.hasPrefix("policy") }
            set("processor", in: policies, to: governor.rawValue, governor.rawValue)
        }
        if let isOn = power.hasWiFi {
            let radios = paths(in: "class/rfkill", "soft") {
                SystemFile.firstLine("\(root)/class/rfkill/\($0)/type") == "wlan"
            }
            set("Wi-Fi", in: radios, to: isOn ? "0" : "1", isOn ? "on" : "off")
        }
        if let isOn = power.hasHDMI {
            let sockets = paths(in: "class/drm", "status") { $0.contains("-HDMI-") }
            // "detect" is the kernel's default: the state follows the connected display.
            set("HDMI", in: sockets, to: isOn ? "detect" : "off", isOn ? "on" : "off")
        }
        return (done, failures)
    }

    /// The path of a file in each matching entry of a folder.
    private func paths(in folder: String, _ file: String, where isMeant: (String) -> Bool) -> [String] {
        SystemFile.names(in: "\(root)/\(folder)").filter(isMeant).map { "\(root)/\(folder)/\($0)/\(file)" }
    }
}
