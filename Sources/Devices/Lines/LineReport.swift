public import Takes

/// A GPIO line as `fieldfare lines --json` prints it.
public struct LineReport: Codable, Equatable, Sendable {
    /// The chip's name, such as `gpiochip0`, which may change from boot to boot.
    public var chip: String
    public var offset: Int
    /// The line's name, as the settings accept it, or null if the board defines none.
    @ExplicitNull public var name: String?
    public var output: Bool
    /// Whether a program or a driver holds it.
    public var used: Bool
    /// The name that the holder gave, or null without a holder or a name.
    @ExplicitNull public var consumer: String?

    public init(chip: String, offset: Int, name: String?, output: Bool, used: Bool, consumer: String?) {
        self.chip = chip
        self.offset = offset
        self.output = output
        self.used = used
        self.name = name
        self.consumer = consumer
    }

    /// All lines of all chips, and the chips that could not be read.
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
