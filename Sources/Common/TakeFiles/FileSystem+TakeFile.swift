import Glibc

/// Files of finished takes, as programs open them that may read more than takes: secrets, for instance. Neither a file nor the folder of
/// its day may be a link, which could lead to one of those; and a pipe or a device is no sound.
extension FileSystem {
    /// Opens a regular file in the folder of a day, to read it.
    /// - Throws: `FileError`: `ELOOP`, if it or the folder is a link; `EISDIR`, `ESPIPE` or `ENXIO`, if it is no file.
    public func openTakeFile(_ path: String) throws(FileError) -> OpenFile {
        let (folder, name) = Self.split(path)
        let day = try openDay(folder)
        // The folder that is open: its name may lead to another one by now.
        let descriptor = try doing("open", path) { () throws(Errno) in
            try calls.open(
                "/proc/self/fd/\(day.descriptor)/\(name)", flags: O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC,
                mode: 0)
        }
        let file = OpenFile(descriptor: descriptor, path: path, calls: calls)
        _ = try length(file)
        return file
    }

    /// The attributes of such a file.
    public func takeFileAttributes(_ path: String) throws(FileError) -> FileAttributes {
        try attributes(of: openTakeFile(path))
    }

    /// The attributes of an open file.
    public func attributes(of file: OpenFile) throws(FileError) -> FileAttributes {
        try doing("examine", file.path) { () throws(Errno) in
            try calls.attributes("/proc/self/fd/\(file.descriptor)")
        }
    }

    /// Reads such a file whole, but not more than `limit` bytes of it.
    public func takeFileContents(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        try contents(of: openTakeFile(path), limit: limit)
    }

    /// The names in the folder of a day, which is no link, in no order, `most` at most.
    public func dayEntries(_ path: String, most: Int = .max) throws(FileError) -> [String] {
        let day = try openDay(path)
        return try doing("list", path) { () throws(Errno) in
            try calls.entries("/proc/self/fd/\(day.descriptor)", most: most)
        }
    }

    private func openDay(_ path: String) throws(FileError) -> OpenFile {
        do throws(FileError) {
            return try openFolder(path, followsLink: false)
        } catch {
            // A link is reported as what is no folder: that would count as missing.
            guard error.code == ENOTDIR, (try? openFolder(path)) != nil else { throw error }
            throw FileError("open", path, code: ELOOP)
        }
    }

    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }
}

extension OpenFile {
    /// Where libraries that know only paths find this very file, as long as it is open.
    var ownPath: String { "/proc/self/fd/\(descriptor)" }
}
