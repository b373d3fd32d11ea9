public import Files
public import Takes

/// The open folder of a day, to read several of its files. Symbolic links are refused, as `FileSystem.openTakeFile` does.
public struct TakesDay: Sendable {
    private let folder: OpenFile
    private let files: FileSystem

    init(_ path: String, files: FileSystem) throws(FileError) {
        folder = try files.openDay(path)
        self.files = files
    }

    /// The names in it, in no particular order.
    public func entries() throws(FileError) -> [String] { try files.entries(of: folder, most: .max) }

    /// Attributes that show whether a finished take's sidecar is still the same file.
    public func sidecarAttributes(of take: TakeName) throws(FileError) -> FileAttributes {
        try files.attributes(of: openSidecar(of: take))
    }

    /// The content of a finished take's sidecar file.
    public func sidecarBytes(of take: TakeName) throws(FileError) -> [UInt8] {
        let file = try openSidecar(of: take)
        return try files.contents(
            of: file, limit: SidecarFile.mostBytes, expecting: Int(clamping: files.length(file)))
    }

    /// The content of a finished take's sidecar file, and its attributes before it was read.
    public func sidecar(of take: TakeName) throws(FileError) -> (bytes: [UInt8], attributes: FileAttributes) {
        let file = try openSidecar(of: take)
        let attributes = try files.attributes(of: file)
        let bytes = try files.contents(
            of: file, limit: SidecarFile.mostBytes, expecting: Int(clamping: attributes.byteCount))
        return (bytes, attributes)
    }

    /// The length of a file, or nil if it does not exist or is not a regular file.
    public func byteCount(of name: String) -> Int64? {
        (try? open(name)).flatMap { try? files.length($0) }
    }

    private func openSidecar(of take: TakeName) throws(FileError) -> OpenFile {
        try open(TakeDocument.sidecar.name(stem: take.stem))
    }

    private func open(_ name: String) throws(FileError) -> OpenFile {
        try files.openToRead(name, in: folder, path: "\(folder.path)/\(name)")
    }
}
