import Programs
import Testing

@Suite struct ChildProcessTests {
    @Test func `input that the program reads no more is refused, and no signal ends this process`() throws {
        let child = try ChildProcess("/bin/sh", ["-c", "exec <&-; exit 3"])
        while child.write([1]) != nil { _ = child.wait(for: [child.input], milliseconds: 1) }
        #expect(child.end() == 3)
    }

    @Test func `a kill reaches what the program has started`() throws {
        let child = try ChildProcess("/bin/sh", ["-c", "sleep 1000 & echo started; wait"])
        var buffer = [UInt8](repeating: 0, count: 16)
        while child.read(child.output, &buffer) == 0 { _ = child.wait(for: [child.output]) }
        child.kill()
        // The output ends when both have ended.
        while child.read(child.output, &buffer) != nil { _ = child.wait(for: [child.output]) }
        #expect(child.end() == nil)
    }

    @Test func `a program that reads its input to the end gives all of it back`() throws {
        let child = try ChildProcess("/bin/cat", [])
        var (rest, found) = ([UInt8](repeating: 7, count: 1 << 20)[...], 0)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var isOpen = true
        while isOpen {
            for end in child.wait(for: rest.isEmpty ? [child.output] : [child.input, child.output]) {
                if end == child.input {
                    rest = rest.dropFirst(try #require(child.write(rest)))
                    if rest.isEmpty { child.endInput() }
                } else if let count = child.read(end, &buffer) {
                    found += count
                } else {
                    isOpen = false
                }
            }
        }
        #expect(child.end() == 0 && found == 1 << 20)
    }

    @Test func `a program has ended although what it started keeps its output open`() throws {
        let child = try ChildProcess("/bin/sh", ["-c", "sleep 1000 & exit 3"])
        while !child.hasEnded { _ = child.wait(for: [child.output], milliseconds: 10) }
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(child.read(child.output, &buffer) == 0)
        #expect(child.end() == 3 && child.hasEnded)
    }
}
