extension FileSystem {
    /// Replaces a small file, whole or not at all, or makes it. It is on the disk when this returns. The name with `.tmp` at its end is used
    /// meanwhile.
    public func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = fileMode) throws(FileError) {
        let draft = path + ".tmp"
        // A link or a pipe in its place, or what a process left that was killed.
        try? remove(draft)
        let file = try create(draft, isNew: true, mode: mode)
        try write(bytes, to: file, at: 0)
        try sync(file)
        try move(draft, to: path)
        try syncFolder(openFolder(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])))
    }
}
