extension FileSystem {
    /// Lengthens a file to `byteCount` with blocks that are given to it at once and not written (`fallocate(2)`).
    /// - Throws: `FileError` with `EOPNOTSUPP` where the file system cannot do that.
    package func allocate(_ file: OpenFile, byteCount: Int64) throws(FileError) {
        try doing("allocate", file.path) { () throws(Errno) in
            try calls.allocate(file.descriptor, byteCount: byteCount)
        }
    }

    /// From here on, `file` is read and written past the kernel's cache (`O_DIRECT`), in whole blocks of 4 KiB, from and into memory
    /// that is aligned to as much.
    /// - Throws: `FileError` with `EINVAL` where the file system cannot do that.
    package func bypassCache(_ file: OpenFile) throws(FileError) {
        try doing("bypass the cache of", file.path) { () throws(Errno) in try calls.bypassCache(file.descriptor) }
    }

    /// Where a file lies on its device (`FIEMAP`), in the order of the file.
    /// - Throws: `FileError` with `EOPNOTSUPP` where the file system does not say.
    package func extents(_ file: OpenFile) throws(FileError) -> [FileExtent] {
        try doing("locate", file.path) { () throws(Errno) in try calls.extents(file.descriptor) }
    }
}
