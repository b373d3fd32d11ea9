import Programs
import Testing

@Suite struct ProgramOutputTests {
    @Test func `what a program writes is had whole, and it gets no variable of this process`() throws {
        let output = try ProgramOutput(
            of: "/bin/sh", ["-c", "head -c 200000 /dev/zero; env"], limit: 300_000, patience: .seconds(60))
        let text = String(decoding: output.bytes.drop { $0 == 0 }, as: UTF8.self)
        #expect(output.status == 0 && output.bytes.prefix { $0 == 0 }.count == 200_000)
        #expect(!text.contains("HOME=") && text.contains("LC_ALL=C"))
    }

    @Test(arguments: [
        ("echo first >&2; echo second >&2; exit 3", "first"), ("exit 3", "failed with status 3"),
        ("kill -9 $$", "failed with status -1"), ("cat /dev/zero", "writes more than 1000 bytes"),
    ]) func `a program that fails is a sentence`(script: String, problem: String) {
        let error = #expect(throws: ProgramError.self) {
            try ProgramOutput(of: "/bin/sh", ["-c", script], limit: 1000, patience: .seconds(60))
        }
        #expect(error?.description == "/bin/sh: \(problem)")
    }

    @Test func `a program that cannot be started, or does not end, is a sentence`() {
        let none = #expect(throws: ProgramError.self) {
            try ProgramOutput(of: "/none", [], limit: 1000, patience: .seconds(60))
        }
        #expect(none?.problem == "cannot be started: No such file or directory")
        let stuck = #expect(throws: ProgramError.self) {
            try ProgramOutput(of: "/bin/sleep", ["1000"], limit: 1000, patience: .milliseconds(50))
        }
        #expect(stuck?.problem == "does not answer")
    }

    @Test func `where failing is allowed, what was written counts, and nothing is a failure`() throws {
        let output = try ProgramOutput(
            of: "/bin/sh", ["-c", "echo some; exit 3"], limit: 1000, patience: .seconds(60), mayFail: true)
        #expect(output.status == 3 && output.bytes == Array("some\n".utf8))
        let error = #expect(throws: ProgramError.self) {
            try ProgramOutput(
                of: "/bin/sh", ["-c", "echo why >&2; exit 3"], limit: 1000, patience: .seconds(60), mayFail: true)
        }
        #expect(error?.problem == "why")
    }
}
