import Files
import Glibc
import Takes
import TestBench
import Testing

@testable import Doctor

@Suite struct ClockProbeTests {
    private let scratch = TestFolder()
    private let clock = TestClock()
    private var probe: ClockProbe { ClockProbe(root: scratch.path) }

    @Test func `what the machine says is read from its files`() {
        #expect(probe.bootID == "")
        #expect(!probe.evidence(clock).isSetFromRTC)
        scratch.write("0b0c\n", to: "proc/sys/kernel/random/boot_id")
        scratch.write("1\n", to: "sys/class/rtc/rtc0/hctosys")
        #expect(probe.bootID == "0b0c")
        let evidence = probe.evidence(clock)
        #expect(evidence.isSetFromRTC)
        #expect(evidence.offset == ClockOffset(microseconds: 1_795_241_791_000_000))
        scratch.write("0\n", to: "sys/class/rtc/rtc0/hctosys")
        #expect(!probe.evidence(clock).isSetFromRTC)
    }

    @Test func `what is remembered is known again in the same boot, and in no other`() throws {
        scratch.write("0b0c\n", to: "proc/sys/kernel/random/boot_id")
        let record = ClockRecord(bootID: "0b0c", origin: .manual, offset: ClockOffset(microseconds: 7))
        #expect(probe.record == nil)
        let error = #expect(throws: FileError.self) { try probe.remember(record) }
        #expect(error?.code == ENOENT)
        scratch.write("garbage", to: "run/fieldfare/clock")
        #expect(probe.record == nil)
        try probe.remember(record)
        #expect(probe.record == record)
        try probe.remember(record)
        #expect(try FileSystem().entries(scratch.path + "/run/fieldfare") == ["clock"])
        scratch.write("1b1c\n", to: "proc/sys/kernel/random/boot_id")
        #expect(probe.record == nil)
    }

    @Test func `a doctor that finds the recorder down judges by what that remembered`() {
        scratch.write("0b0c\n", to: "proc/sys/kernel/random/boot_id")
        scratch.write("0b0c manual \(clock.offset().microseconds)\n", to: "run/fieldfare/clock")
        // If this machine's clock is synchronised, that has priority.
        let isSynchronised = probe.evidence(clock).isSynchronised
        #expect(probe.origin(newestTake: "2030-01-01", clock: clock) == (isSynchronised ? .ntp : .manual))
        scratch.write("0b0c manual 5\n", to: "run/fieldfare/clock")
        #expect(probe.origin(newestTake: nil, clock: clock) == (isSynchronised ? .ntp : .unset))
    }
}
