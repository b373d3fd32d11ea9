extension FileSystem {
    /// Extends a file to `byteCount` bytes. Its blocks are allocated at once and not written (`fallocate(2)`).
    /// - Throws: `FileError` with `EOPNOTSUPP` if the file system does not support it.
    package func allocate(_ file: OpenFile, byteCount: Int64) throws(FileError) {
        try doing("allocate", file.path) { () throws(Errno) in
            try calls.allocate(file.descriptor, byteCount: byteCount)
        }
    }

    /// From now on, `file` bypasses the kernel's cache (`O_DIRECT`). Reads and writes must use whole blocks of 4 KiB,
    /// in memory with the same alignment.
    /// - Throws: `FileError` with `EINVAL` if the file system does not support it.
    package func bypassCache(_ file: OpenFile) throws(FileError) {
        try doing("bypass the cache of", file.path) { () throws(Errno) in try calls.bypassCache(file.descriptor) }
    }

    /// The extents of a file on its device (`FIEMAP`), in the order of the file.
    /// - Throws: `FileError` with `EOPNOTSUPP` if the file system does not report them.
    package func extents(_ file: OpenFile) throws(FileError) -> [FileExtent] {
        try doing("locate", file.path) { () throws(Errno) in try calls.extents(file.descriptor) }
    }
}
