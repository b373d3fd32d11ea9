/// Identifies the file or folder that a path leads to. It differs if another file or another file system takes the same
/// place.
public struct FileIdentity: Hashable, Sendable {
    /// `st_dev`.
    public var device: UInt64
    /// `st_ino`.
    public var inode: UInt64

    /// The values that `stat(2)` reports.
    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}
