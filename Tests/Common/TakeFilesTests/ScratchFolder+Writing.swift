import TakeFiles

extension ScratchFolder {
    /// Writes a file in the folder, replacing an existing one.
    func write(_ bytes: [UInt8], _ name: String) throws {
        let files = FileSystem()
        try files.write(bytes, to: files.create("\(path)/\(name)", isNew: false), at: 0)
    }
}
