/// The six digits by which a phone is paired.
public struct PairingCode: Hashable, Sendable {
    /// The digits.
    public let digits: String

    /// The name of the file that keeps it, in the library's folder.
    public static let fileName = "pairing-code"

    /// Reads six digits; nil: the text is something else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 6, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        digits = String(text)
    }

    /// Reads the first line of a file; nil: that is no code.
    public init?(file bytes: [UInt8]) {
        guard let line = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).first else {
            return nil
        }
        self.init(line)
    }

    /// A code that nobody can guess.
    public static func random() -> Self {
        let digits = String(Int.random(in: 0..<1_000_000))
        return Self(String(repeating: "0", count: 6 - digits.count) + digits)!
    }
}
