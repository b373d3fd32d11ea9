public import ArgumentParser
public import Takes
public import Transport

/// A number of seconds. A negative number means back.
struct Seconds: ExpressibleByArgument {
    var value: Double

    init?(argument: String) {
        let text = argument.replacing("\u{2212}", with: "-")
        guard let value = Double(text), value.isFinite else { return nil }
        self.value = value
    }
}

/// A number of hundredths of a semitone. A negative number means down.
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

enum OnOff: String, ExpressibleByArgument {
    case on, off
}

extension TakeReference: ExpressibleByArgument {
    /// Returns nil for empty text.
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
