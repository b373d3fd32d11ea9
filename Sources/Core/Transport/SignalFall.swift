/// Channels whose level suddenly fell lower than ever before, and stayed there.
public struct SignalFall: Hashable, Sendable {
    public var decibels: Int
    /// The time of the fall, in words: `at 06:18`.
    public var when: String
    /// Their numbers on the card, from 1.
    public var channels: [Int]

    public init(decibels: Int, when: String, channels: [Int]) {
        self.decibels = decibels
        self.when = when
        self.channels = channels
    }

    /// The sentence for a person: the fault, and the remedy.
    public var complaint: String {
        let list = channels.map(String.init).joined(separator: ", ")
        return "\(Self.start)\(decibels) dB \(when) on channel \(list): check the microphone's plug and cable"
    }

    private static let start = "the signal fell by "
    /// Whether a sentence is a complaint about a fall.
    public static func isComplaint(_ sentence: String) -> Bool { sentence.contains(start) }
}
