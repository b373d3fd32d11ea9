import Doctor
import Files
import Glibc
package import History

/// The machine's own sensors, as far as the kernel exposes them. Missing sensors are omitted.
package struct Sensors: Sendable {
    /// The folder that contains `/sys` and `/run`.
    private let root: String
    /// Nil if the settings name none.
    private let supply: SupplyVoltage?

    package init(root: String = "", supply: SupplyVoltage? = nil) {
        self.root = root
        self.supply = supply
    }

    /// Measures now. It may block on a sensor's bus.
    package func measurement() -> Measurement {
        var found = Measurement()
        let temperatures = thermalZones.merging(monitors) { zone, _ in zone }
        if !temperatures.isEmpty { found.temperatures = temperatures }
        found.supplyVolts = supply?.read().map { ($0 * 1000).rounded() / 1000 }
        let power = PowerCheck(root: root)
        found.throttled = power.throttled
        found.underVoltage = power.alarm ?? power.throttled.map { $0 & 1 != 0 }
        let wear = wear
        let disks = diskReports
        let used = wear.used.merging(disks.compactMapValues(\.usedPercent)) { emmc, _ in emmc }
        if !used.isEmpty { found.storageWear = used }
        if !wear.reserve.isEmpty { found.preEndOfLife = wear.reserve }
        let health = disks.compactMapValues(\.isHealthy)
        if !health.isEmpty { found.isHealthy = health }
        return found
    }

    /// Whether the watchdog reset the machine before this boot: `WDIOF_CARDRESET` of `linux/watchdog.h`.
    package var wasResetByWatchdog: Bool {
        let folder = root + "/sys/class/watchdog"
        return SystemFile.names(in: folder).contains { name in
            SystemFile.firstLine("\(folder)/\(name)/bootstatus").flatMap { Int($0) }.map { $0 & 0x20 != 0 } ?? false
        }
    }

    /// Degrees Celsius of the kernel's thermal zones, by their type.
    private var thermalZones: [String: Double] {
        let folder = root + "/sys/class/thermal"
        let zones = SystemFile.names(in: folder).filter { $0.hasPrefix("thermal_zone") }
        return Dictionary(
            zones.compactMap { zone -> (String, Double)? in
                guard let name = SystemFile.words("\(folder)/\(zone)/type", limit: 30),
                    let degrees = Self.degrees("\(folder)/\(zone)/temp")
                else { return nil }
                return (Self.key(name), degrees)
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Degrees Celsius of the drivers' monitors (`hwmon`), by name, and by label for an input that has one.
    private var monitors: [String: Double] {
        let folder = root + "/sys/class/hwmon"
        var found: [String: Double] = [:]
        for monitor in SystemFile.names(in: folder) {
            guard let name = SystemFile.words("\(folder)/\(monitor)/name", limit: 30) else { continue }
            for input in SystemFile.names(in: "\(folder)/\(monitor)") {
                guard input.hasPrefix("temp"), input.hasSuffix("_input"),
                    let degrees = Self.degrees("\(folder)/\(monitor)/\(input)")
                else { continue }
                let label = SystemFile.words("\(folder)/\(monitor)/\(input.dropLast(5))label", limit: 30)
                let key = Self.key(label.map { "\(name) \($0)" } ?? name)
                if found[key] == nil, found.count < Self.mostTemperatures { found[key] = degrees }
            }
        }
        return found
    }

    /// This bounds the length of a line of the history.
    private static let mostTemperatures = 16

    /// Gives the two spellings of a Pi's sensor, `cpu-thermal` and `cpu_thermal`, the same key.
    private static func key(_ name: String) -> String {
        String(name.lowercased().map { $0 == "_" || $0 == " " ? "-" : $0 })
    }

    /// Reads the kernel's millidegrees. Nil if the file is unreadable or the sensor is not connected.
    private static func degrees(_ path: String) -> Double? {
        guard let value = SystemFile.firstLine(path).flatMap({ Int($0) }), (-60_000...150_000).contains(value) else {
            return nil
        }
        return Double(value) / 1000
    }

    /// The share of its life that each eMMC has used, in percent, and its `PRE_EOL_INFO`.
    private var wear: (used: [String: Int], reserve: [String: Int]) {
        var (used, reserve) = ([String: Int](), [String: Int]())
        let disks = root + "/sys/block"
        for disk in SystemFile.names(in: disks) {
            // Since eMMC 5.0: two kinds of cells, each in steps of ten percent; 11 means beyond its life.
            let steps = SystemFile.firstLine("\(disks)/\(disk)/device/life_time").map(Self.numbers) ?? []
            if let worst = steps.filter({ (1...11).contains($0) }).max() { used[disk] = 10 * worst }
            let state = SystemFile.firstLine("\(disks)/\(disk)/device/pre_eol_info").map(Self.numbers)?.first
            if let state, (1...3).contains(state) { reserve[disk] = state }
        }
        return (used, reserve)
    }

    /// The latest reports of other disks, by disk name, as queried by `fieldfare-storage-health`.
    private var diskReports: [String: DiskReport] {
        var found: [String: DiskReport] = [:]
        for disk in SystemFile.names(in: root + "/sys/block") {
            guard let sequence = SystemFile.firstLine("\(root)/sys/block/\(disk)/diskseq"),
                let text = SystemFile.text("\(root)/run/fieldfare-storage/\(disk).\(sequence).json")
            else { continue }
            found[disk] = DiskReport(json: text)
        }
        return found
    }

    private static func numbers(_ line: String) -> [Int] {
        line.split(separator: " ").compactMap { Int($0.hasPrefix("0x") ? $0.dropFirst(2) : $0[...], radix: 16) }
    }
}
