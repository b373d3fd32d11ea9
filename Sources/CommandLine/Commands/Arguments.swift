public import ArgumentParser
public import Takes
public import Transport

/// A number of seconds, back if it is negative.
struct Seconds: ExpressibleByArgument {
    var value: Double

    init?(argument: String) {
        let text = argument.replacing("\u{2212}", with: "-")
        guard let value = Double(text), value.isFinite else { return nil }
        self.value = value
    }
}

/// A number of hundredths of a semitone, down if it is negative.
struct Cents: ExpressibleByArgument {
    var value: Int

    init?(argument: String) {
        guard let value = Int(argument.replacing("\u{2212}", with: "-")) else { return nil }
        self.value = value
    }
}

extension GainSetting: ExpressibleByArgument {
    /// Reads a number of decibels, or 'keep'.
    public init?(argument: String) {
        guard argument != "keep" else {
            self = .keep
            return
        }
        guard let decibels = Double(argument.replacing("\u{2212}", with: "-")), decibels.isFinite else { return nil }
        self = .decibels(decibels)
    }
}

/// 'on' or 'off'.
enum OnOff: String, ExpressibleByArgument {
    case on, off
}

extension TakeReference: ExpressibleByArgument {
    /// Reads what a person typed; nil for nothing at all.
    public init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.init(argument)
    }
}

extension Cutoff: ExpressibleByArgument {
    /// Reads a frequency, 'auto' or 'off'.
    public init?(argument: String) {
        switch argument {
        case "auto": self = .automatic
        case "off": self = .off
        default:
            guard let hertz = Double(argument), hertz.isFinite, hertz > 0 else { return nil }
            self = .hertz(hertz)
        }
    }
}

extension TakeQuery.Order: ExpressibleByArgument {}
extension TakeQuery.Upload: ExpressibleByArgument {}
