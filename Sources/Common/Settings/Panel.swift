extension Settings {
    /// The buttons and LEDs. A line that is nil is not used: the file says `"none"`, or something that cannot be read.
    public struct Panel: Hashable, Sendable {
        /// How long a level must be stable before it counts.
        public var debounce = Duration.milliseconds(15)
        /// How long a button is held before it repeats.
        public var hold = Duration.milliseconds(600)
        /// How long stop is held to shut the kit down.
        public var shutdownHold = Duration.seconds(3)
        /// Whether back and stop held together for 2 s lock and unlock the panel.
        public var lock = true
        /// `[panel.buttons]`
        public var buttons = Buttons()
        /// `[panel.leds]`
        public var leds = LEDs()
    }

    /// The lines of the five buttons.
    public struct Buttons: Hashable, Sendable {
        /// Starts a take.
        public var record: ButtonLine? = ButtonLine(.name("GPIO17"))
        /// Ends a take, or playback.
        public var stop: ButtonLine? = ButtonLine(.name("GPIO27"))
        /// Plays and pauses.
        public var play: ButtonLine? = ButtonLine(.name("GPIO22"))
        /// Goes back.
        public var back: ButtonLine? = ButtonLine(.name("GPIO23"))
        /// Goes forward.
        public var forward: ButtonLine? = ButtonLine(.name("GPIO24"))
    }

    /// The LEDs: either four, or one for all.
    public struct LEDs: Hashable, Sendable {
        /// Recording.
        public var record: LampLine? = .line(.name("GPIO12"))
        /// Playing, and armed.
        public var play: LampLine? = .line(.name("GPIO16"))
        /// Uploading.
        public var upload: LampLine? = .line(.name("GPIO13"))
        /// What is wrong.
        public var fault: LampLine? = .line(.name("GPIO26"))
        /// The only one that the kit has; the four others are nil then.
        public var all: LampLine?
    }

    /// How a GPIO line is found.
    public enum LineAddress: Hashable, Sendable {
        /// By its name, which outlives a chip's renumbering.
        case name(String)
        /// By its place on a chip, such as `gpiochip0`.
        case offset(chip: String, offset: Int)
    }

    /// The line of a button.
    public struct ButtonLine: Hashable, Sendable {
        /// Which line.
        public var address: LineAddress
        /// Whether the line is low while the button is pressed.
        public var isActiveLow: Bool
        /// The resistor that the chip puts on the line.
        public var pull: Pull

        /// A line; by default with a button to ground.
        public init(_ address: LineAddress, isActiveLow: Bool = true, pull: Pull = .up) {
            self.address = address
            self.isActiveLow = isActiveLow
            self.pull = pull
        }

        /// The resistor that a chip puts on a line.
        public enum Pull: String, CaseIterable, Sendable {
            case up, down
            /// Neither: the board has its own.
            case off = "none"
        }
    }

    /// What lights a lamp.
    public enum LampLine: Hashable, Sendable {
        /// A GPIO line; active low: it is lit while the line is low.
        case line(LineAddress, isActiveLow: Bool = false)
        /// A device below `/sys/class/leds`.
        case led(String)
    }
}

extension Settings.LineAddress: CustomStringConvertible {
    /// `line "GPIO17"` or `line 17 of gpiochip0`.
    public var description: String {
        switch self {
        case .name(let name): "line \(quoted(name))"
        case .offset(let chip, let offset): "line \(offset) of \(escaped(chip))"
        }
    }
}
