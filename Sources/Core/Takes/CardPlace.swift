/// The card that a part of a take was recorded from, and its USB port.
public struct CardPlace: Hashable, Sendable {
    /// The card's stable id.
    public var card: String
    /// The USB port, such as `1-1.4`, or nil for a card that is not in a USB port.
    public var port: String?

    public init(card: String, port: String? = nil) {
        self.card = card
        self.port = port
    }

    /// Whether a path names a USB port: a bus, then the ports on the way, such as `1-1.4`.
    public static func isPort(_ path: String) -> Bool {
        let fields = path.split(separator: "-", omittingEmptySubsequences: false)
        return fields.count == 2
            && ([fields[0]] + fields[1].split(separator: ".", omittingEmptySubsequences: false)).allSatisfy { number in
                !number.isEmpty && number.utf8.allSatisfy { (0x30...0x39).contains($0) }
            }
    }

    /// For a person: `usb:0d8c:0014 in port 1-1.4`.
    public var summary: String { card + (port.map { " in port \($0)" } ?? "") }
}
