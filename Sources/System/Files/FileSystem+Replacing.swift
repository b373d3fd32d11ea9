extension FileSystem {
    /// Creates or replaces a small file atomically. It is on the disk when this returns. A temporary file with the
    /// suffix `.tmp` is used meanwhile.
    public func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = fileMode) throws(FileError) {
        let draft = path + ".tmp"
        // This may be a link, a pipe, or the draft of a process that was killed.
        try? remove(draft)
        let file = try create(draft, isNew: true, mode: mode)
        try write(bytes, to: file, at: 0)
        try sync(file)
        try move(draft, to: path)
        try syncFolder(openFolder(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])))
    }
}
