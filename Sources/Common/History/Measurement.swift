/// What the machine measures of itself. What it does not measure is nil, and is left out of the record.
public struct Measurement: Codable, Equatable, Sendable {
    /// In degrees Celsius, by the sensor's name.
    public var temperatures: [String: Double]?
    /// Whether the supply voltage is too low now.
    public var underVoltage: Bool?
    /// The supply's voltage, where the settings name what measures it.
    public var supplyVolts: Double?
    /// The flags of a Raspberry Pi's firmware, `get_throttled`.
    public var throttled: UInt32?
    /// Free space where takes are kept.
    public var freeBytes: Int64?
    /// How much of its life an eMMC or an SSD has used, in percent, by its name. Of an eMMC it is the upper end of the step of ten that
    /// it reports; an SSD may report more than 100. An SD card reports none.
    public var storageWear: [String: Int]?
    /// What an eMMC reports of its reserved blocks, by its name: 1 normal, 2 warning, 3 urgent.
    ///
    /// Source: JEDEC JESD84-B51, `PRE_EOL_INFO`.
    public var preEndOfLife: [String: Int]?
    /// Whether a disk judges itself to be good, by its name (SMART).
    public var isHealthy: [String: Bool]?

    /// Nothing is measured.
    public init() {}

    /// Whether nothing is measured.
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
