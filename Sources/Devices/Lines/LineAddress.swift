public enum LineAddress: Hashable, Sendable {
    /// The line's own name, on any chip that has it. It stays valid when chips are renumbered.
    case name(String)
    /// The chip's name (`gpiochip0`), label (`pinctrl-bcm2835`) or path (`/dev/gpiochip0`), and an offset on the chip.
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

/// The wiring of an input line.
public struct InputLine: Hashable, Sendable {
    /// The resistor inside the chip that defines the level when nothing drives the line.
    public enum Pull: Hashable, Sendable {
        case up, down, none
    }

    public var address: LineAddress
    /// Whether low means active, as with a button to ground.
    public var activeLow: Bool
    /// A chip without such a resistor ignores it.
    public var pull: Pull

    /// The defaults are those of a button to ground.
    public init(_ address: LineAddress, activeLow: Bool = true, pull: Pull = .up) {
        self.address = address
        self.activeLow = activeLow
        self.pull = pull
    }
}

/// The wiring of an output line.
public struct OutputLine: Hashable, Sendable {
    public var address: LineAddress
    /// Whether a low level lights the lamp.
    public var activeLow: Bool

    /// The defaults are those of a lamp to ground.
    public init(_ address: LineAddress, activeLow: Bool = false) {
        self.address = address
        self.activeLow = activeLow
    }
}

public enum LampOutput: Hashable, Sendable {
    case line(OutputLine)
    /// A device of the kernel's LED class, by its name under `/sys/class/leds`.
    case led(String)
}
