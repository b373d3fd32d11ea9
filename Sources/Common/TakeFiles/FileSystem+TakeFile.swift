public import Files
import Glibc

/// Opens files of finished takes for programs that may also read other files, for instance secrets. Neither a file nor
/// the folder of its day may be a symbolic link, which could lead to such a file. A pipe or a device is refused, too.
extension FileSystem {
    /// Opens a regular file in the folder of a day for reading.
    /// - Throws: `FileError`: `ELOOP` if the file or the folder is a symbolic link; `EISDIR`, `ESPIPE` or `ENXIO` if it
    ///   is not a regular file.
    public func openTakeFile(_ path: String) throws(FileError) -> OpenFile {
        let (folder, name) = Self.split(path)
        return try openToRead(name, in: openDay(folder), path: path)
    }

    public func takeFileAttributes(_ path: String) throws(FileError) -> FileAttributes {
        try attributes(of: openTakeFile(path))
    }

    /// Reads such a file whole, but at most `limit` bytes.
    public func takeFileContents(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        try contents(of: openTakeFile(path), limit: limit)
    }

    /// At most `most` names in the folder of a day, in no particular order. The folder must not be a symbolic link.
    public func dayEntries(_ path: String, most: Int = .max) throws(FileError) -> [String] {
        try entries(of: openDay(path), most: most)
    }

    func openDay(_ path: String) throws(FileError) -> OpenFile {
        do throws(FileError) {
            return try openFolder(path, followsLink: false)
        } catch {
            // The kernel reports a link as `ENOTDIR`, which would count as missing.
            guard error.code == ENOTDIR, (try? openFolder(path)) != nil else { throw error }
            throw FileError("open", path, code: ELOOP)
        }
    }

    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }
}
