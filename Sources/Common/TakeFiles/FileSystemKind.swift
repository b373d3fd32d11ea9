/// What kind of file system takes are kept on, and so what a power cut may cost there.
public enum FileSystemKind: Hashable, Sendable {
    /// It has a journal, or writes nothing over what is there: a file has its old name or its new one after a power cut.
    case journaled(String)
    /// FAT16 or FAT32. Its names, lengths and chains of blocks are written apart, and repaired by `fsck` after a power cut.
    case fat
    /// The same of exFAT.
    case exFAT
    /// It is kept in memory: nothing of it outlives the power.
    case volatile(String)
    /// Anything else, by the kernel's number for it.
    case other(UInt32)

    /// The kind that `statfs(2)` names, by the numbers of linux/magic.h.
    init(magic: UInt32) {
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

    /// As a person knows it.
    public var name: String {
        switch self {
        case .journaled(let name), .volatile(let name): name
        case .fat: "FAT"
        case .exFAT: "exFAT"
        case .other: "unknown"
        }
    }

    /// Why takes are not safe there at all, as a sentence about `path`; nil: they are, or that is not known.
    public func volatility(at path: String) -> String? {
        guard case .volatile(let name) = self else { return nil }
        return
            "\(path): is on \(name), which is kept in memory: all takes are lost with the power: name a directory on a card or "
            + "disk under [takes]"
    }

    /// Whether a file has the same number whenever it is looked at: FAT makes up another one once nobody has it open.
    var keepsFileNumbers: Bool {
        switch self {
        case .journaled, .volatile: true
        case .fat, .exFAT, .other: false
        }
    }

    /// Whether a file that gets a name which is not on the disk yet may have half of that name after a power cut.
    var splitsNames: Bool { self == .fat }
}
