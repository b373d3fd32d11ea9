/// A GPIO chip and its lines, as `fieldfare lines` lists them.
public struct GPIOChip: Hashable, Sendable {
    /// The kernel's name, such as `gpiochip0`, which may change from boot to boot.
    public var name: String
    /// The driver's name for the chip, such as `pinctrl-bcm2835`.
    public var label: String
    /// The device, such as `/dev/gpiochip0`.
    public var path: String
    /// Ordered by offset, from 0.
    public var lines: [Line]

    public struct Line: Hashable, Sendable {
        public var offset: Int
        /// Nil if the board's device tree names no such line.
        public var name: String?
        public var isOutput: Bool
        /// Whether its user configured it as active low.
        public var isActiveLow: Bool
        /// Whether a program or a driver holds it.
        public var isUsed: Bool
        /// The name that the holder gave.
        public var consumer: String?
    }

    /// All chips of the machine, and the chips that could not be read.
    public static func list() -> (chips: [GPIOChip], errors: [LineError]) {
        let scan = ChipScan(GPIOCalls())
        return (scan.chips, scan.errors(.lines))
    }
}
