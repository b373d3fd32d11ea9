/// What `fieldfare lines` tells of one GPIO line.
public struct LineReport: Codable, Hashable, Sendable {
    /// The line's name; without one, its chip and offset.
    public var line: String
    /// The chip, such as `gpiochip0`.
    public var chip: String
    /// What the chip is called by its maker.
    public var label: String
    /// The line's place on the chip.
    public var offset: Int
    /// `in` or `out`.
    public var direction: String
    /// Whether somebody has it.
    public var used: Bool
    /// Who has it, as far as they said.
    public var consumer: String?

    /// All lines of all chips.
    /// - Returns: the lines, and a sentence for each chip that could not be read.
    public static func list() -> (lines: [LineReport], errors: [LineError]) {
        let (chips, errors) = GPIOChip.list()
        let lines = chips.flatMap { chip in
            chip.lines.map { line in
                LineReport(
                    line: line.name ?? "\(chip.name) \(line.offset)", chip: chip.name, label: chip.label,
                    offset: line.offset, direction: line.isOutput ? "out" : "in", used: line.isUsed,
                    consumer: line.consumer)
            }
        }
        return (lines, errors)
    }
}
