import Testing
import Transport

@testable import Control

@Suite struct PairingCodeTests {
    @Test func `a code is six digits, and nothing else is one`() {
        #expect(PairingCode("012345")?.digits == "012345")
        for text in ["", "12345", "1234567", "12345a", "12 456", "١٢٣٤٥٦", "-12345"] {
            #expect(PairingCode(text) == nil)
        }
        #expect(PairingCode(file: Array("012345\r\n".utf8))?.digits == "012345")
        #expect(PairingCode(file: []) == nil && PairingCode(file: Array("\n".utf8)) == nil)
    }

    @Test func `codes that are made differ, and begin with any digit`() {
        let codes = Set((0..<1000).map { _ in PairingCode.random().digits })
        #expect(codes.count > 900 && codes.allSatisfy { $0.utf8.count == 6 })
        #expect(Set(codes.compactMap(\.first)).count == 10)
    }

    @Test(arguments: [PairingWindow.Answer.accepted, .wrong(left: 3), .lastWrong, .closed])
    func `what becomes of a code is read as it is written`(_ answer: PairingWindow.Answer) {
        #expect(PairingWindow.Answer(.object(answer.members)) == answer)
    }

    @Test func `another reply is no answer`() {
        #expect(PairingWindow.Answer(.object(["code": .string("wrong")])) == nil)
        #expect(PairingWindow.Answer(.object([:])) == nil)
    }
}
