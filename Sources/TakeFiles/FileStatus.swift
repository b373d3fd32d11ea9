/// The state of an open file, independent of its path.
public struct FileStatus: Hashable, Sendable {
    /// The number of its names; a removed file has 0, and lasts until it is closed.
    public var linkCount: Int
    /// Its length.
    public var byteCount: Int64
    /// Which file it is.
    public var identity: FileIdentity

    /// As `fstat(2)` reports it.
    public init(linkCount: Int, byteCount: Int64, identity: FileIdentity) {
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

    /// Gives an open file another name. One that was removed cannot get one any more (`ENOENT`), and FAT has one name a file (`EPERM`).
    func link(_ file: OpenFile, to path: String) throws(FileError) {
        try doing("link", path) { () throws(Errno) in try calls.link(file.descriptor, to: path) }
    }

    /// The number of files that can still be made where `path` is; nil if the file system does not count them.
    public func freeFiles(_ path: String) throws(FileError) -> Int64? {
        try doing("measure", path) { () throws(Errno) in try calls.freeFiles(path) }
    }
}
