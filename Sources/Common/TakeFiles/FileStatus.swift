/// The state of an open file, independent of its path, or of what has a name.
public struct FileStatus: Hashable, Sendable {
    /// The number of its names; a removed file has 0, and lasts until it is closed.
    public var linkCount: Int
    /// Its length.
    public var byteCount: Int64
    /// Which file it is.
    public var identity: FileIdentity
    /// What it is.
    public var kind: Kind

    /// What a name may be of.
    public enum Kind: Hashable, Sendable {
        case file, folder
        /// A link, a pipe, a device.
        case other
    }

    /// As `fstat(2)` and `lstat(2)` report it.
    public init(linkCount: Int, byteCount: Int64, identity: FileIdentity, kind: Kind = .file) {
        self.kind = kind
        self.linkCount = linkCount
        self.byteCount = byteCount
        self.identity = identity
    }
}

extension FileSystem {
    /// The state of an open file.
    func status(of file: OpenFile) throws(FileError) -> FileStatus {
        try doing("examine", file.path) { () throws(Errno) in try calls.status(file.descriptor) }
    }

    /// The state of what has a name; a link is not followed.
    func status(named path: String) throws(FileError) -> FileStatus {
        try doing("examine", path) { () throws(Errno) in try calls.status(named: path) }
    }

    /// Gives an open file another name. One that was removed cannot get one any more (`ENOENT`), and FAT has one name a file (`EPERM`).
    func link(_ file: OpenFile, to path: String) throws(FileError) {
        try doing("link", path) { () throws(Errno) in try calls.link(file.descriptor, to: path) }
    }

    /// The number of files that can still be made where `path` is; nil if the file system does not count them.
    public func freeFiles(_ path: String) throws(FileError) -> Int64? {
        try doing("measure", path) { () throws(Errno) in try calls.freeFiles(path) }
    }
}
