/// The machine's measurements of itself. A value that the machine does not measure is nil, and is omitted from the
/// record.
public struct Measurement: Codable, Equatable, Sendable {
    /// In degrees Celsius, by the sensor's name.
    public var temperatures: [String: Double]?
    public var underVoltage: Bool?
    /// The supply voltage, if the settings name its sensor.
    public var supplyVolts: Double?
    public var throttled: UInt32?
    /// Free space in the folder of takes.
    public var freeBytes: Int64?
    /// The used life of an eMMC or an SSD in percent, by the device's name. An eMMC reports steps of ten, and this is
    /// the upper end of the step. An SSD may report more than 100. An SD card reports nothing.
    public var storageWear: [String: Int]?
    /// The state of an eMMC's reserved blocks, by the device's name: 1 normal, 2 warning, 3 urgent.
    ///
    /// Source: JEDEC JESD84-B51, `PRE_EOL_INFO`.
    public var preEndOfLife: [String: Int]?
    /// A disk's own judgement of its health (SMART), by the device's name.
    public var isHealthy: [String: Bool]?

    public init() {}

    public var isEmpty: Bool { self == Measurement() }

    enum CodingKeys: String, CodingKey {
        case temperatures, throttled
        case underVoltage = "under_voltage"
        case supplyVolts = "supply_volts"
        case freeBytes = "free_bytes"
        case storageWear = "storage_wear_percent"
        case preEndOfLife = "pre_eol_info"
        case isHealthy = "smart_passed"
    }
}
