import Files
import TakeFiles
import Takes

/// Checks whether the file system of the takes can keep the recorder's promises.
struct FileSystemCheck {
    var directory: String
    /// Nil if the folder does not exist.
    var kind: FileSystemKind?
    /// The longest sound that is not yet on the disk while the storage responds.
    var syncPromise: Duration

    /// Nil if the file system can keep them.
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
