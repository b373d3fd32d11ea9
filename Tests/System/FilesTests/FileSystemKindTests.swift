import Files
import Glibc
import Testing

struct FileSystemKindTests {
    @Test(
        arguments: [
            (0xEF53, FileSystemKind.journaled("ext4"), "ext4"), (0x4D44, .fat, "FAT"), (0x2011_BAB0, .exFAT, "exFAT"),
            (0x0102_1994, .volatile("tmpfs"), "tmpfs"), (0x8584_58F6, .volatile("ramfs"), "ramfs"),
            (0x794C_7630, .volatile("overlay"), "overlay"), (0x6573_5546, .other(0x6573_5546), "unknown"),
        ] as [(UInt32, FileSystemKind, String)])
    func `a file system is known by the kernel's number`(magic: UInt32, kind: FileSystemKind, name: String) {
        #expect(FileSystemKind(magic: magic) == kind)
        #expect(kind.name == name)
    }

    @Test(.enabled(if: access("/proc/self/mountinfo", R_OK) == 0)) func `the kernel names the kind of a path`() throws {
        // Proc has its own magic number.
        #expect(try FileSystem().kind(of: "/proc") == .other(0x9FA0))
        #expect(throws: FileError("examine", "/nowhere", code: ENOENT)) { try FileSystem().kind(of: "/nowhere") }
    }
}
