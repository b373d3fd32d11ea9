import FoundationEssentials
public import Takes
import Transport

/// A line of the history.
public struct HistoryRecord: Equatable, Sendable {
    /// The date that the kit had then.
    public var at: WallTime
    /// Seconds since the machine booted, to the millisecond.
    public var uptime: Double
    public var event: HistoryEvent

    public init(at: WallTime, uptime: Double, _ event: HistoryEvent) {
        self.at = at
        self.uptime = uptime
        self.event = event
    }

    /// The maximum length of a line with its line break. A longer line is not written, and counts as damaged when read.
    static let longestLine = 4096

    /// One line of JSON with its line break, or nil if it would be too long or has a number that JSON cannot express.
    public var line: [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? Array(encoder.encode(self)), bytes.count < Self.longestLine else { return nil }
        return bytes + [0x0a]
    }

    /// Reads a line without its line break, or returns nil if it is damaged or has an event of another version.
    public init?(line: some Collection<UInt8>) {
        guard line.count < Self.longestLine,
            let record = try? JSONDecoder().decode(Self.self, from: Data(line))
        else { return nil }
        self = record
    }
}

extension HistoryRecord: Codable {
    private enum Key: String, CodingKey {
        case at, event
        case uptime = "uptime_seconds"
    }

    /// The raw values are the event names in the file.
    private enum Kind: String, Codable {
        case start, end, press, take, card, clock, measure, phone
        case takeEnd = "take-end"
        case fault
        case faultEnd = "fault-end"
        case leftOut = "left-out"
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let text = try values.decode(String.self, forKey: .at)
        guard let at = WallTime(iso8601: text) else {
            throw DecodingError.dataCorruptedError(forKey: .at, in: values, debugDescription: "not a date: \(text)")
        }
        self.at = at
        uptime = try values.decode(Double.self, forKey: .uptime)
        event =
            switch try values.decode(Kind.self, forKey: .event) {
            case .start: .started(try .init(from: decoder))
            case .end: .ended(try .init(from: decoder))
            case .press: .pressed(try .init(from: decoder))
            case .take: .takeBegan(try .init(from: decoder))
            case .takeEnd: .takeEnded(try .init(from: decoder))
            case .fault: .faultBegan(try .init(from: decoder))
            case .faultEnd: .faultEnded(try .init(from: decoder))
            case .card: .card(try .init(from: decoder))
            case .clock: .clock(try .init(from: decoder))
            case .measure: .measured(try .init(from: decoder))
            case .phone: .phone(try .init(from: decoder))
            case .leftOut: .leftOut(try .init(from: decoder))
            }
    }

    /// Writes the time, the event's name and the event's own keys.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(at.iso8601, forKey: .at)
        try values.encode(uptime, forKey: .uptime)
        let (kind, content): (Kind, any Encodable) =
            switch event {
            case .started(let content): (.start, content)
            case .ended(let content): (.end, content)
            case .pressed(let content): (.press, content)
            case .takeBegan(let content): (.take, content)
            case .takeEnded(let content): (.takeEnd, content)
            case .faultBegan(let content): (.fault, content)
            case .faultEnded(let content): (.faultEnd, content)
            case .card(let content): (.card, content)
            case .clock(let content): (.clock, content)
            case .measured(let content): (.measure, content)
            case .phone(let content): (.phone, content)
            case .leftOut(let content): (.leftOut, content)
            }
        try values.encode(kind, forKey: .event)
        try content.encode(to: encoder)
    }
}
