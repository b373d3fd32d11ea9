import Control
import DiskCalls
import Files
import Foundation
import TestBench
import Testing

@testable import Library

@Suite(.waitsOnNamedThreads) struct PairingCodeFileTests {
    private let place = TestFolder()
    private var folder: String { place.path }
    private var path: String { "\(folder)/pairing-code" }

    private func content() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func `a code is made at the first start, for the group, and stays`() throws {
        let (file, problem) = PairingCodeFile.open(in: folder)
        #expect(problem == nil)
        #expect(try content() == file.code.digits + "\n")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
        #expect(PairingCodeFile.open(in: folder).0.code == file.code)
    }

    @Test func `another code is made when somebody asks, and outlives the library`() throws {
        try Data("123456\n".utf8).write(to: URL(filePath: path))
        let (file, _) = PairingCodeFile.open(in: folder)
        #expect(file.code.digits == "123456")
        while file.code.digits == "123456" { try file.renew() }
        #expect(PairingCodeFile.open(in: folder).0.code == file.code)
    }

    @Test(arguments: ["", "12345\n", "hello, world\n"])
    func `a file without a code is replaced, and that is said`(_ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        let (file, problem) = PairingCodeFile.open(in: folder)
        #expect(
            problem
                == "pairing: \(path): has no code of six digits: a new one was made, 'fieldfare label' prints it")
        #expect(try content() == file.code.digits + "\n")
    }

    @Test func `where nothing can be written there is a code all the same, and renewing it is refused`() throws {
        let (file, problem) = PairingCodeFile.open(in: "\(folder)/none")
        #expect(problem?.hasSuffix("the code is another one after each start of the library") == true)
        let code = file.code
        #expect(throws: FileError.self) { try file.renew() }
        #expect(file.code == code)
    }
}
