public import ArgumentParser
public import Takes
public import Transport

/// A duration in seconds. A negative one means back.
struct Seconds: Hashable {
    var value: Double

    init(_ value: Double) { self.value = value }

    /// Reads seconds, or hours, minutes and seconds: `90`, `1.5`, `2h`, `1m30s`, `-5`.
    init(typed text: String) throws(ValidationError) {
        guard let value = Self.value(text.replacing("\u{2212}", with: "-")) else {
            throw ValidationError(
                "allowed are seconds such as 90 or 1.5, or hours, minutes and seconds such as 2h, 1m or 1m30s")
        }
        self.value = value
    }

    private static func value(_ text: String) -> Double? {
        if let seconds = Double(text) { return seconds.isFinite ? seconds : nil }
        let isNegative = text.hasPrefix("-")
        var rest = text.dropFirst(isNegative ? 1 : 0)
        guard !rest.isEmpty else { return nil }
        var sum = 0.0
        let units: [(name: Character, seconds: Double)] = [("h", 3600), ("m", 60), ("s", 1)]
        for unit in units {
            guard let end = rest.firstIndex(of: unit.name) else { continue }
            let digits = rest[..<end]
            guard digits.allSatisfy({ "0123456789.".contains($0) }), let count = Double(digits) else { return nil }
            sum += count * unit.seconds
            rest = rest[rest.index(after: end)...]
        }
        guard rest.isEmpty, sum.isFinite else { return nil }
        return isNegative ? -sum : sum
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
