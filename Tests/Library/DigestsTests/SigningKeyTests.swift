import Digests
import Foundation
import OtherPrograms
import TestBench
import Testing

/// Keys made, and signatures verified, by the `openssl` command.
@Suite(.needs(.openssl))
struct SigningKeyTests {
    private let folder = TestFolder()

    /// Runs `openssl` in the folder.
    private func run(_ arguments: String) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: OtherProgram.openssl.path)
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private func text(_ file: String) throws -> String { try #require(folder.text(file)) }

    @Test("PKCS #1 and PKCS #8", arguments: ["genrsa -traditional -out key.pem 2048", "genrsa -out key.pem 2048"])
    func signatures(making: String) throws {
        #expect(try run(making) == 0)
        #expect(try run("rsa -in key.pem -pubout -out public.pem") == 0)
        let key = try #require(SigningKey(pem: text("key.pem")))
        folder.write("what is signed", to: "text")
        let signature = try #require(key.signature(of: "what is signed"))
        #expect(signature.count == 256)
        folder.write(Array(signature), to: "signature")
        #expect(try run("dgst -sha256 -verify public.pem -signature signature text") == 0)
        folder.write("something else", to: "text")
        #expect(try run("dgst -sha256 -verify public.pem -signature signature text") != 0)
    }

    @Test(
        "what is no RSA key without a password is none, and nobody is asked for one",
        arguments: [
            "ecparam -genkey -name prime256v1 -noout -out key.pem",
            "genrsa -aes128 -passout pass:secret -out key.pem 2048", "rand -base64 -out key.pem 900",
        ])
    func noKeys(making: String) throws {
        #expect(try run(making) == 0)
        #expect(try SigningKey(pem: text("key.pem")) == nil)
    }

    @Test func `half a key is none`() throws {
        #expect(try run("genrsa -out key.pem 2048") == 0)
        let whole = try text("key.pem")
        #expect(SigningKey(pem: String(whole.prefix(whole.count / 2))) == nil)
        #expect(SigningKey(pem: "") == nil)
    }
}
