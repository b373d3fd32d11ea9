/// What a path leads to: another file system, or another file, in its place has another one.
public struct FileIdentity: Hashable, Sendable {
    /// The file system's device, `st_dev`.
    public var device: UInt64
    /// The file's number on it, `st_ino`.
    public var inode: UInt64

    /// An identity, as `stat(2)` reports it.
    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}
