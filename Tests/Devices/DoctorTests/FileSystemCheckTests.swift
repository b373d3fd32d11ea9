import Files
import Testing

@testable import Doctor

@Suite struct FileSystemCheckTests {
    private func finding(_ kind: FileSystemKind?) -> Finding? {
        FileSystemCheck(directory: "/takes", kind: kind, syncPromise: .milliseconds(1500)).finding
    }

    @Test func `a file system with a journal is no finding, nor is a folder that is not there`() {
        #expect(finding(.journaled("ext4")) == nil)
        #expect(finding(nil) == nil)
    }

    @Test(arguments: [(FileSystemKind.fat, "FAT"), (.exFAT, "exFAT")])
    func `of one without a journal, the loss is said in seconds`(kind: FileSystemKind, name: String) throws {
        let found = try #require(finding(kind))
        #expect(found.severity == .warning)
        #expect(
            found.message
                == "/takes: is on \(name), which has no journal: after a power cut it must be repaired (fsck) before it is "
                + "mounted, and the last 1.5 s of sound may be lost or be noise: ext4 is safer")
        #expect(found.figures["unsynced_seconds"] == .number(1.5))
    }

    @Test func `storage that is kept in memory is a failure`() throws {
        let found = try #require(finding(.volatile("overlay")))
        #expect(found.severity == .failure && found.exitStatus == 74)
        #expect(
            found.message.hasPrefix("/takes: is on overlay, which is kept in memory: all takes are lost with the power")
        )
    }

    @Test func `an unknown one is named by the kernel's number`() throws {
        let found = try #require(finding(.other(0x6969)))
        #expect(found.severity == .warning)
        #expect(found.message.contains("was not tested (type 0x6969)"))
    }
}
