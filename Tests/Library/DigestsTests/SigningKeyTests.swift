import Digests
import Foundation
import OtherPrograms
import Testing

/// Keys made, and signatures verified, by the `openssl` command.
@Suite(.needs(.openssl))
struct SigningKeyTests {
    private let folder: URL

    init() throws {
        folder = try FileManager.default.url(
            for: .itemReplacementDirectory, in: .userDomainMask, appropriateFor: URL(fileURLWithPath: "/tmp"),
            create: true)
    }

    /// Runs `openssl` in the folder.
    private func run(_ arguments: String) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: OtherProgram.openssl.path)
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private func text(_ file: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
    }

    @Test("PKCS #1 and PKCS #8", arguments: ["genrsa -traditional -out key.pem 2048", "genrsa -out key.pem 2048"])
    func signatures(making: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try run(making) == 0)
        #expect(try run("rsa -in key.pem -pubout -out public.pem") == 0)
        let key = try #require(SigningKey(pem: text("key.pem")))
        try Data("what is signed".utf8).write(to: folder.appendingPathComponent("text"))
        let signature = try #require(key.signature(of: "what is signed"))
        #expect(signature.count == 256)
        try Data(signature).write(to: folder.appendingPathComponent("signature"))
        #expect(try run("dgst -sha256 -verify public.pem -signature signature text") == 0)
        try Data("something else".utf8).write(to: folder.appendingPathComponent("text"))
        #expect(try run("dgst -sha256 -verify public.pem -signature signature text") != 0)
    }

    @Test(
        "what is no RSA key without a password is none, and nobody is asked for one",
        arguments: [
            "ecparam -genkey -name prime256v1 -noout -out key.pem",
            "genrsa -aes128 -passout pass:secret -out key.pem 2048", "rand -base64 -out key.pem 900",
        ])
    func noKeys(making: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try run(making) == 0)
        #expect(try SigningKey(pem: text("key.pem")) == nil)
    }

    @Test func `half a key is none`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try run("genrsa -out key.pem 2048") == 0)
        let whole = try text("key.pem")
        #expect(SigningKey(pem: String(whole.prefix(whole.count / 2))) == nil)
        #expect(SigningKey(pem: "") == nil)
    }
}
