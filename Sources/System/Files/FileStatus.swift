/// The state of an open file, independent of its path, or of the object that a path names.
public struct FileStatus: Hashable, Sendable {
    /// The number of hard links. A removed file has 0, and exists until it is closed.
    public var linkCount: Int
    public var byteCount: Int64
    public var identity: FileIdentity
    public var kind: Kind

    /// The kind of object that a name can refer to.
    public enum Kind: Hashable, Sendable {
        case file, folder
        /// A symbolic link, a pipe or a device.
        case other
    }

    /// The values that `fstat(2)` and `lstat(2)` report.
    public init(linkCount: Int, byteCount: Int64, identity: FileIdentity, kind: Kind = .file) {
        self.kind = kind
        self.linkCount = linkCount
        self.byteCount = byteCount
        self.identity = identity
    }
}

extension FileSystem {
    package func status(of file: OpenFile) throws(FileError) -> FileStatus {
        try doing("examine", file.path) { () throws(Errno) in try calls.status(file.descriptor) }
    }

    /// The state of the object with this name. A symbolic link is not followed.
    package func status(named path: String) throws(FileError) -> FileStatus {
        try doing("examine", path) { () throws(Errno) in try calls.status(named: path) }
    }

    /// Adds a hard link to an open file. A removed file cannot get a new name (`ENOENT`), and FAT allows one name per
    /// file (`EPERM`).
    package func link(_ file: OpenFile, to path: String) throws(FileError) {
        try doing("link", path) { () throws(Errno) in try calls.link(file.descriptor, to: path) }
    }

    /// The number of files that can still be made on the file system of `path`, or nil if the file system does not
    /// count them.
    public func freeFiles(_ path: String) throws(FileError) -> Int64? {
        try doing("measure", path) { () throws(Errno) in try calls.freeFiles(path) }
    }
}
