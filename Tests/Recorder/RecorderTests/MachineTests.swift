import Files
import Ring
import Testing

@testable import Recorder

@Suite struct MachineTests {
    @Test func `the memory is what the kernel says in proc`() throws {
        // MemTotal:       16316412 kB (proc_meminfo(5))
        let line = try #require(SystemFile.firstLine("/proc/meminfo"))
        let kilobytes = try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        #expect(Ring.machineMemoryBytes == kilobytes << 10)
    }

    @Test func `each boot has an id`() {
        #expect(Machine.bootID.count == 36)
    }
}
