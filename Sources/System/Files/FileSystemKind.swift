/// The kind of a file system. It determines what a power cut can damage.
public enum FileSystemKind: Hashable, Sendable {
    /// It has a journal or is copy-on-write: after a power cut a file has its old name or its new one.
    case journaled(String)
    /// FAT16 or FAT32. Names, lengths and block chains are written separately, and `fsck` repairs them after a power
    /// cut.
    case fat
    /// Like `fat`.
    case exFAT
    /// It is kept in memory. Nothing survives a power cut.
    case volatile(String)
    /// Any other kind, by the kernel's magic number.
    case other(UInt32)

    /// The kind for the magic number from `statfs(2)`, as in linux/magic.h.
    package init(magic: UInt32) {
        self =
            switch magic {
            case 0xEF53: .journaled("ext4")
            case 0x5846_5342: .journaled("xfs")
            case 0x9123_683E: .journaled("btrfs")
            case 0xF2F5_2010: .journaled("f2fs")
            case 0x4D44: .fat
            case 0x2011_BAB0: .exFAT
            case 0x0102_1994: .volatile("tmpfs")
            case 0x8584_58F6: .volatile("ramfs")
            case 0x794C_7630: .volatile("overlay")
            default: .other(magic)
            }
    }

    /// The name that users know.
    public var name: String {
        switch self {
        case .journaled(let name), .volatile(let name): name
        case .fat: "FAT"
        case .exFAT: "exFAT"
        case .other: "unknown"
        }
    }

    /// Whether a file's inode number is stable. FAT assigns a new one after the file is no longer open.
    package var keepsFileNumbers: Bool {
        switch self {
        case .journaled, .volatile: true
        case .fat, .exFAT, .other: false
        }
    }

    /// Whether a power cut can leave half of a file's new name while the new name is not on the disk yet.
    package var splitsNames: Bool { self == .fat }
}
