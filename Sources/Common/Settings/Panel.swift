extension Settings {
    /// The buttons and LEDs. A line that is nil is not used: the file has `"none"`, or a value that cannot be read.
    public struct Panel: Hashable, Sendable {
        /// How long a level must be stable before it counts.
        public var debounce = Duration.milliseconds(15)
        /// How long a button is held until it repeats.
        public var hold = Duration.milliseconds(600)
        /// How long stop is held to shut the kit down.
        public var shutdownHold = Duration.seconds(3)
        /// Whether holding back and stop together for 2 s locks and unlocks the panel.
        public var lock = true
        /// `[panel.buttons]`
        public var buttons = Buttons()
        /// `[panel.leds]`
        public var leds = LEDs()
    }

    public struct Buttons: Hashable, Sendable {
        public var record: ButtonLine? = ButtonLine(.name("GPIO17"))
        public var stop: ButtonLine? = ButtonLine(.name("GPIO27"))
        public var play: ButtonLine? = ButtonLine(.name("GPIO22"))
        public var back: ButtonLine? = ButtonLine(.name("GPIO23"))
        public var forward: ButtonLine? = ButtonLine(.name("GPIO24"))
    }

    /// Either four LEDs, or one for all.
    public struct LEDs: Hashable, Sendable {
        public var record: LampLine? = .line(.name("GPIO12"))
        /// Lit while playing, and while armed.
        public var play: LampLine? = .line(.name("GPIO16"))
        public var upload: LampLine? = .line(.name("GPIO13"))
        public var fault: LampLine? = .line(.name("GPIO26"))
        /// The kit's only LED. The four others are then nil.
        public var all: LampLine?
    }

    /// How a GPIO line is found.
    public enum LineAddress: Hashable, Sendable {
        /// The line's name, which stays the same when the chips are renumbered.
        case name(String)
        /// The line's offset on a chip, such as `gpiochip0`.
        case offset(chip: String, offset: Int)
    }

    public struct ButtonLine: Hashable, Sendable {
        public var address: LineAddress
        /// Whether the line is low while the button is pressed.
        public var isActiveLow: Bool
        /// The chip's internal resistor on the line.
        public var pull: Pull

        /// The defaults fit a button to ground.
        public init(_ address: LineAddress, isActiveLow: Bool = true, pull: Pull = .up) {
            self.address = address
            self.isActiveLow = isActiveLow
            self.pull = pull
        }

        /// The chip's internal resistor on a line.
        public enum Pull: String, CaseIterable, Sendable {
            case up, down
            /// No internal resistor, because the board has its own.
            case off = "none"
        }
    }

    /// The output that lights a lamp.
    public enum LampLine: Hashable, Sendable {
        /// A GPIO line. With active low, the lamp is lit while the line is low.
        case line(LineAddress, isActiveLow: Bool = false)
        /// A device below `/sys/class/leds`.
        case led(String)
    }
}

extension Settings.LineAddress: CustomStringConvertible {
    /// For example `line "GPIO17"` or `line 17 of gpiochip0`.
    public var description: String {
        switch self {
        case .name(let name): "line \(quoted(name))"
        case .offset(let chip, let offset): "line \(offset) of \(escaped(chip))"
        }
    }
}
