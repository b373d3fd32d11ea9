import Glibc

/// Access through an open folder: its path may lead to another folder by now.
extension FileSystem {
    /// Opens a regular file of an open folder for reading.
    /// - Parameter path: the file's path, for errors.
    /// - Throws: `FileError`: `ELOOP` if the file is a symbolic link; `EISDIR`, `ESPIPE` or `ENXIO` if it is not a
    ///   regular file.
    package func openToRead(_ name: String, in folder: OpenFile, path: String) throws(FileError) -> OpenFile {
        let descriptor = try doing("open", path) { () throws(Errno) in
            try calls.open(
                "\(folder.ownPath)/\(name)", flags: O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, mode: 0)
        }
        let file = OpenFile(descriptor: descriptor, path: path, calls: calls)
        _ = try length(file)
        return file
    }

    /// At most `most` names in an open folder, in no particular order.
    package func entries(of folder: OpenFile, most: Int) throws(FileError) -> [String] {
        try doing("list", folder.path) { () throws(Errno) in try calls.entries(folder.ownPath, most: most) }
    }

    public func attributes(of file: OpenFile) throws(FileError) -> FileAttributes {
        try doing("examine", file.path) { () throws(Errno) in try calls.attributes(file.ownPath) }
    }
}

extension OpenFile {
    /// A path to this open file, for libraries that accept only paths.
    package var ownPath: String { "/proc/self/fd/\(descriptor)" }
}
