import Control
import DiskCalls
import Foundation
import Settings
import TakeFiles
import TestBench
import Testing

@testable import Library

@Suite(.waitsOnNamedThreads) struct CertificateFileTests {
    private let place = TestFolder()
    private var folder: String { place.path }
    private var path: String { "\(folder)/certificate.pem" }
    private let names = ["heron07.local", "heron07", "10.42.0.1"]
    private let advice = "a new certificate was made, of which browsers warn: 'fieldfare label' prints its fingerprint"

    private func content() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func `a certificate is made at the first start, for its owner alone, and stays`() throws {
        let (file, problem) = CertificateFile.open(in: folder, names: names)
        let made = try #require(file)
        #expect(problem == nil)
        #expect(try content() == "\(made.fingerprint)\n\(made.pem)")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let (again, later) = CertificateFile.open(in: folder, names: names)
        #expect(later == nil)
        #expect(again?.fingerprint == made.fingerprint && again?.pem == made.pem)
    }

    @Test func `a kit of another name gets another certificate, which is said once`() throws {
        let first = CertificateFile.open(in: folder, names: names).0
        let others = ["heron08.local", "heron08", "10.42.0.1"]
        let (second, problem) = CertificateFile.open(in: folder, names: others)
        #expect(problem == "console: \(path): is not for the names that the kit has now: \(advice)")
        #expect(second != nil && second?.fingerprint != first?.fingerprint)
        let (third, later) = CertificateFile.open(in: folder, names: others)
        #expect(later == nil && third?.fingerprint == second?.fingerprint)
    }

    @Test func `a file that is damaged is replaced, and that is said`() throws {
        let made = try #require(CertificateFile.open(in: folder, names: names).0)
        let (text, other) = (try content(), CertificateFingerprint(sha256: Array(repeating: 7, count: 32)))
        for damaged in [
            "", "hello, world\n", String(text.prefix(text.count / 2)), made.pem, "\(other)\n\(made.pem)",
            text.replacing("PRIVATE KEY", with: "PUBLIC KEY"), String(repeating: "\0", count: text.utf8.count),
        ] {
            try Data(damaged.utf8).write(to: URL(filePath: path))
            let (file, problem) = CertificateFile.open(in: folder, names: names)
            #expect(problem == "console: \(path): is damaged: \(advice)", "\(damaged.prefix(100))")
            #expect(file != nil && file?.fingerprint != made.fingerprint)
            #expect(CertificateFingerprint(file: Array(try content().utf8)) == file?.fingerprint)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func `where nothing can be written there is a certificate all the same`() throws {
        let (file, problem) = CertificateFile.open(in: "\(folder)/none", names: names)
        #expect(file != nil)
        #expect(problem?.hasSuffix("the certificate is another one after each start of the library") == true)
        try FileManager.default.removeItem(atPath: folder)
        #expect(CertificateFile.open(in: folder, names: ["1.2.3.400"]).0 == nil)
    }

    @Test func `a kit has its names, its addresses, and the one that the console listens at alone`() {
        func names(_ settings: String, _ hostName: String) -> [String] {
            CertificateFile.names(Settings.parse(settings, file: "f").settings, hostName: hostName)
        }
        let kit = "[kit]\nname = \"wren-3\"\n"
        let own = ["10.42.0.1", "10.43.0.1"]
        #expect(names(kit, "Heron07") == ["heron07.local", "heron07", "wren-3.local", "wren-3"] + own)
        #expect(names(kit, "wren-3") == ["wren-3.local", "wren-3"] + own)
        #expect(names(kit, "the kit,DNS:example.org") == ["wren-3.local", "wren-3"] + own)
        #expect(
            names(kit + "[console]\nlisten = \"[fd00::1]:80\"\n", "7") == ["wren-3.local", "wren-3"] + own + ["fd00::1"]
        )
    }
}
