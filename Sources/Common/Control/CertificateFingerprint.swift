/// SHA-256 of the console's certificate, as browsers show it.
public struct CertificateFingerprint: Hashable, Sendable, CustomStringConvertible {
    /// Pairs of upper-case hexadecimal digits, separated by colons.
    public let description: String

    /// The file in the library's folder that starts with the fingerprint. The certificate and its key follow.
    public static let fileName = "certificate.pem"

    /// Reads 32 pairs, or returns nil for any other text.
    public init?(_ text: some StringProtocol) {
        let pairs = text.split(separator: ":", omittingEmptySubsequences: false)
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) }
        guard pairs.count == 32, pairs.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(isDigit) }) else {
            return nil
        }
        description = String(text)
    }

    /// Reads the first line of the file, or returns nil if it is not a fingerprint.
    public init?(file bytes: [UInt8]) {
        guard let line = bytes.split(separator: 0x0a, maxSplits: 1, omittingEmptySubsequences: false).first else {
            return nil
        }
        self.init(String(decoding: line, as: UTF8.self))
    }

    /// - Parameter sha256: 32 bytes.
    public init(sha256: [UInt8]) {
        let digits = Array("0123456789ABCDEF")
        description = sha256.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined(separator: ":")
    }
}
