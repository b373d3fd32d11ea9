import Digests
import Foundation
import OtherPrograms
import TestBench
import Testing

/// Certificates as read by the `openssl` command.
@Suite(.needs(.openssl))
struct ServerCertificateTests {
    private let names = ["heron07.local", "heron07", "10.42.0.1", "fd00::1"]

    /// The output of `openssl x509` about a certificate.
    private func read(_ certificate: ServerCertificate, _ arguments: String...) throws -> String {
        let folder = TestFolder()
        folder.write(certificate.pem, to: "certificate")
        folder.write("", to: "output")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: OtherProgram.openssl.path)
        process.arguments = ["x509", "-in", "\(folder.path)/certificate", "-noout"] + arguments
        process.standardOutput = FileHandle(forWritingAtPath: "\(folder.path)/output")
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return try #require(folder.text("output"))
    }

    @Test func `a certificate has the names, a time that no clock decides, and a key of P-256`() throws {
        let certificate = try #require(ServerCertificate(names: names))
        let text = try read(certificate, "-text")
        for fact in [
            "DNS:heron07.local, DNS:heron07, IP Address:10.42.0.1, IP Address:FD00:0:0:0:0:0:0:1", "NIST CURVE: P-256",
            "Not Before: Jan  1 00:00:00 2018 GMT", "Not After : Dec 31 23:59:59 2049 GMT", "ecdsa-with-SHA256",
            "CA:FALSE", "TLS Web Server Authentication", "Issuer: CN = heron07.local", "Version: 3",
        ] {
            // OpenSSL 3.2 omits the spaces.
            #expect(
                text.contains(fact) || text.contains(fact.replacing(" = ", with: "=")), "\(fact) in:\n\(text)")
        }
        let fingerprint = try read(certificate, "-fingerprint", "-sha256").split(separator: "=").last ?? ""
        #expect(
            fingerprint.lowercased().filter { $0.isHexDigit } == certificate.sha256.hexadecimal)
    }

    @Test func `what was written is read again, and each one has a key and a number of its own`() throws {
        let certificate = try #require(ServerCertificate(names: names))
        let other = try #require(ServerCertificate(names: names))
        #expect(ServerCertificate(pem: certificate.pem) == certificate)
        #expect(ServerCertificate(pem: "AB:CD\n" + certificate.pem) == certificate)
        #expect(try read(certificate, "-serial") != read(other, "-serial"))
        #expect(certificate.sha256 != other.sha256)
        #expect(certificate.pem.prefix(120) != other.pem.prefix(120))
    }

    @Test func `it has its names, and no others`() throws {
        let certificate = try #require(ServerCertificate(names: names))
        #expect(certificate.has(names: names))
        for others in [["heron08.local"] + names.dropFirst(), Array(names.dropLast()), names + ["10.43.0.1"], []] {
            #expect(!certificate.has(names: others), "\(others)")
        }
        #expect(ServerCertificate(names: []) == nil)
        #expect(ServerCertificate(names: ["heron07", "1.2.3.400"]) == nil)
    }

    @Test func `a byte that is wrong, a cut, or the key of another one is found`() throws {
        let certificate = try #require(ServerCertificate(names: names))
        let bytes = Array(certificate.pem.utf8)
        for count in stride(from: 0, to: bytes.count - 5, by: 11) {
            #expect(ServerCertificate(pem: String(decoding: bytes[..<count], as: UTF8.self)) == nil, "\(count) bytes")
        }
        for index in stride(from: 0, to: bytes.count, by: 3) where bytes[index] != 0x0a && bytes[index] != 0x2d {
            var wrong = bytes
            wrong[index] = wrong[index] == 0x41 ? 0x42 : 0x41
            let read = ServerCertificate(pem: String(decoding: wrong, as: UTF8.self))
            #expect(read == nil || read?.sha256 == certificate.sha256, "byte \(index)")
        }
        // Change one bit of the private number, which is always at the same offset (RFC 5915).
        var lines = certificate.pem.split(separator: "\n").map(String.init)
        var first = try #require(Data(base64Encoded: lines[1]))
        first[40] ^= 1
        lines[1] = first.base64EncodedString()
        #expect(ServerCertificate(pem: lines.joined(separator: "\n")) == nil)
        let other = try #require(ServerCertificate(names: names))
        let parts = { (pem: String) in pem.split(separator: "-----BEGIN CERT") }
        #expect(ServerCertificate(pem: parts(certificate.pem)[0] + "-----BEGIN CERT" + parts(other.pem)[1]) == nil)
    }
}
