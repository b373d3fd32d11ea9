/// Attributes of a file that are available without reading it.
public struct FileAttributes: Hashable, Sendable {
    public var byteCount: Int64
    /// When the content changed, in nanoseconds since 1970, with the resolution of the file system.
    public var modifiedNs: Int64
    /// When the content or the attributes changed: `st_ctim`, which no program can set. 0 if unknown.
    public var changedNs: Int64
    /// `st_ino`. A file that replaced this one usually has another number.
    public var inode: Int64

    /// The values that `stat(2)` reports.
    public init(byteCount: Int64, modifiedNs: Int64, inode: Int64, changedNs: Int64 = 0) {
        self.changedNs = changedNs
        self.byteCount = byteCount
        self.modifiedNs = modifiedNs
        self.inode = inode
    }
}
