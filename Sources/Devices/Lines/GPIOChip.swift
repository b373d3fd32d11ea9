/// A GPIO chip and its lines, as `fieldfare lines` lists them.
public struct GPIOChip: Hashable, Sendable {
    /// The kernel's name, such as `gpiochip0`: it may change from boot to boot.
    public var name: String
    /// The driver's name for it, such as `pinctrl-bcm2835`.
    public var label: String
    /// The device, such as `/dev/gpiochip0`.
    public var path: String
    /// In the order of their offsets, from 0.
    public var lines: [Line]

    /// One line of a chip.
    public struct Line: Hashable, Sendable {
        /// Its place on the chip.
        public var offset: Int
        /// Its name; nil when the board's device tree gives none.
        public var name: String?
        /// Whether it drives.
        public var isOutput: Bool
        /// Whether it is in use with low as active.
        public var isActiveLow: Bool
        /// Whether a program or a driver holds it.
        public var isUsed: Bool
        /// The name that the holder gave.
        public var consumer: String?
    }

    /// All chips of the machine, and what could not be read.
    public static func list() -> (chips: [GPIOChip], errors: [LineError]) {
        let scan = ChipScan(GPIOCalls())
        return (scan.chips, scan.errors(.lines))
    }
}
