/// One measured value.
public enum Figure: Hashable, Sendable {
    case number(Double)
    case text(String)
    /// The value could not be measured.
    case unknown

    static func count(_ value: some BinaryInteger) -> Figure { .number(Double(value)) }
}

extension Figure: Codable {
    /// Accepts a number, a text, or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .unknown
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    /// Writes the bare value. A number that is not finite becomes null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number) where number.isFinite: try container.encode(number)
        case .text(let text): try container.encode(text)
        case .number, .unknown: try container.encodeNil()
        }
    }
}

/// A number with at most one decimal place: `12.3`, `48`.
func rounded(_ value: Double) -> String {
    let tenths = (value * 10).rounded() / 10
    return tenths.magnitude < 1e15 && tenths == tenths.rounded() ? "\(Int64(tenths))" : "\(tenths)"
}
