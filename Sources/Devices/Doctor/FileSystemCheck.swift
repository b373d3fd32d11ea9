import TakeFiles
import Takes

/// Whether the file system of the takes keeps what the recorder promises.
struct FileSystemCheck {
    var directory: String
    /// Nil: unknown, as there is no such folder.
    var kind: FileSystemKind?
    /// The most sound that is not on the disk while the storage answers.
    var syncPromise: Duration

    /// Nil: it does.
    var finding: Finding? {
        let figures = ["unsynced_seconds": Figure.number(syncPromise.inSeconds)]
        let seconds = "\(rounded(syncPromise.inSeconds)) s"
        switch kind {
        case nil, .journaled: return nil
        case .volatile?:
            return kind?.volatility(at: directory).map { .failure(.storage, $0, exitStatus: 74, figures) }
        case .fat?, .exFAT?:
            return .warning(
                .storage,
                "\(directory): is on \(kind?.name ?? ""), which has no journal: after a power cut it must be repaired (fsck) "
                    + "before it is mounted, and the last \(seconds) of sound may be lost or be noise: ext4 is safer",
                figures)
        case .other(let magic)?:
            return .warning(
                .storage,
                "\(directory): is on a file system that was not tested (type 0x\(String(magic, radix: 16))): a power cut may "
                    + "cost more than the last \(seconds) of sound: use ext4", figures)
        }
    }
}
