/// What is known of a file without reading it.
public struct FileAttributes: Hashable, Sendable {
    /// Its length.
    public var byteCount: Int64
    /// When its content changed, in nanoseconds since 1970, as fine as its file system keeps it.
    public var modifiedNs: Int64
    /// When its content or its attributes changed, `st_ctim`, which no program can set; 0: not known.
    public var changedNs: Int64
    /// Its number, `st_ino`: a file that took its place has another one, as a rule.
    public var inode: Int64

    /// As `stat(2)` reports it.
    public init(byteCount: Int64, modifiedNs: Int64, inode: Int64, changedNs: Int64 = 0) {
        self.changedNs = changedNs
        self.byteCount = byteCount
        self.modifiedNs = modifiedNs
        self.inode = inode
    }
}
