/// The six digits for pairing a phone.
public struct PairingCode: Hashable, Sendable {
    public let digits: String

    /// The file in the library's folder that holds the code.
    public static let fileName = "pairing-code"

    /// Reads six digits, or returns nil for any other text.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 6, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        digits = String(text)
    }

    /// Reads the first line of a file, or returns nil if it is not a code.
    public init?(file bytes: [UInt8]) {
        guard let line = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).first else {
            return nil
        }
        self.init(line)
    }

    public static func random() -> Self {
        let digits = String(Int.random(in: 0..<1_000_000))
        return Self(String(repeating: "0", count: 6 - digits.count) + digits)!
    }
}
