import Control
import Testing

@Suite struct CertificateFingerprintTests {
    private let hash = (0..<32).map { UInt8($0 * 8) }
    private let text =
        "00:08:10:18:20:28:30:38:40:48:50:58:60:68:70:78:80:88:90:98:A0:A8:B0:B8:C0:C8:D0:D8:E0:E8:F0:F8"

    @Test func `it is written in pairs of upper-case digits, and read again`() {
        let fingerprint = CertificateFingerprint(sha256: hash)
        #expect(fingerprint.description == text)
        #expect(CertificateFingerprint(text) == fingerprint)
        #expect(CertificateFingerprint(file: Array("\(text)\n-----BEGIN PRIVATE KEY-----\n".utf8)) == fingerprint)
    }

    @Test func `what is none is not read`() {
        for wrong in [
            "", String(text.dropLast()), text.lowercased(), text + ":00", " " + text, "0:" + text.dropFirst(2),
        ] {
            #expect(CertificateFingerprint(wrong) == nil, "\(wrong)")
        }
        #expect(CertificateFingerprint(file: []) == nil)
        #expect(CertificateFingerprint(file: Array("\n\(text)\n".utf8)) == nil)
    }
}
