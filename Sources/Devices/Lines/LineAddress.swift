/// Where a line is.
public enum LineAddress: Hashable, Sendable {
    /// By the line's own name, on whichever chip has it: it outlives a chip's renumbering.
    case name(String)
    /// By the chip's name (`gpiochip0`), label (`pinctrl-bcm2835`) or path (`/dev/gpiochip0`), and an offset on it.
    case offset(chip: String, offset: Int)
}

extension LineAddress: CustomStringConvertible {
    /// `GPIO17`, or `gpiochip0 17`.
    public var description: String {
        switch self {
        case .name(let name): name
        case .offset(let chip, let offset): "\(chip) \(offset)"
        }
    }
}

/// A line that is watched, as wired.
public struct InputLine: Hashable, Sendable {
    /// The resistor inside the chip that holds the line when nothing drives it.
    public enum Pull: Hashable, Sendable {
        case up, down, none
    }

    /// Where it is.
    public var address: LineAddress
    /// Whether low means active, as with a button to ground.
    public var activeLow: Bool
    /// The resistor; a chip that has none ignores it.
    public var pull: Pull

    /// A button to ground unless said otherwise.
    public init(_ address: LineAddress, activeLow: Bool = true, pull: Pull = .up) {
        self.address = address
        self.activeLow = activeLow
        self.pull = pull
    }
}

/// A line that is driven, as wired.
public struct OutputLine: Hashable, Sendable {
    /// Where it is.
    public var address: LineAddress
    /// Whether low lights the lamp.
    public var activeLow: Bool

    /// A lamp to ground unless said otherwise.
    public init(_ address: LineAddress, activeLow: Bool = false) {
        self.address = address
        self.activeLow = activeLow
    }
}

/// What drives a lamp.
public enum LampOutput: Hashable, Sendable {
    /// A GPIO line.
    case line(OutputLine)
    /// A device of the kernel's LED class, by its name under `/sys/class/leds`.
    case led(String)
}
