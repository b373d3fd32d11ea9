public import Takes

/// A GPIO line as `fieldfare lines --json` prints it.
public struct LineReport: Codable, Equatable, Sendable {
    /// The chip's name, such as `gpiochip0`: it may change from boot to boot.
    public var chip: String
    /// Its place on the chip.
    public var offset: Int
    /// Its name, as the settings take it; null when the board gives none.
    @ExplicitNull public var name: String?
    /// Whether it drives.
    public var output: Bool
    /// Whether a program or a driver holds it.
    public var used: Bool
    /// The name that the holder gave; null: there is no holder, or it gave none.
    @ExplicitNull public var consumer: String?

    /// A line of a chip.
    public init(chip: String, offset: Int, name: String?, output: Bool, used: Bool, consumer: String?) {
        self.chip = chip
        self.offset = offset
        self.output = output
        self.used = used
        self.name = name
        self.consumer = consumer
    }

    /// All lines of all chips, and why some could not be read.
    public static func list() -> (lines: [LineReport], errors: [LineError]) {
        let (chips, errors) = GPIOChip.list()
        let lines = chips.flatMap { chip in
            chip.lines.map { line in
                LineReport(
                    chip: chip.name, offset: line.offset, name: line.name, output: line.isOutput, used: line.isUsed,
                    consumer: line.consumer)
            }
        }
        return (lines, errors)
    }
}
