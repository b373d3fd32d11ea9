public import Takes

/// The folder for takes as programs beside the recorder read it: nothing in it is locked or written.
public struct TakesFolder: Sendable {
    /// Its path.
    public let path: String
    let files: FileSystem

    /// The folder at `path`; nothing is read yet.
    public init(path: String, files: FileSystem = FileSystem()) {
        self.path = path
        self.files = files
    }

    /// The finished takes, by number, and why days could not be read. Read from the names of the files alone.
    /// - Throws: `FileError`, if the folder itself cannot be read.
    public func takes() throws(FileError) -> (takes: [TakeName], unreadable: [FileError]) {
        var unreadable: [FileError] = []
        let takes = try TakesDirectory.names(
            in: path, files: files, unreadable: &unreadable, owner: { $1 }, isCounted: TakesDirectory.isSidecar)
        return (takes.sorted(), unreadable)
    }

    /// The folder that a take's files are in.
    public func folder(of take: TakeName) -> String { "\(path)/\(take.day)" }

    /// The path of a finished take's sidecar.
    public func sidecarPath(of take: TakeName) -> String {
        "\(folder(of: take))/\(TakeDocument.sidecar.name(stem: take.stem))"
    }

    /// What tells whether a finished take's sidecar is the one that was there before.
    public func sidecarAttributes(of take: TakeName) throws(FileError) -> FileAttributes {
        try files.takeFileAttributes(sidecarPath(of: take))
    }

    /// How many bytes a file of a take has; nil: it is not there, or is no file.
    public func byteCount(ofFile name: String, of take: TakeName) -> Int64? {
        (try? files.takeFileAttributes("\(folder(of: take))/\(name)"))?.byteCount
    }

    /// Bytes of all files of a finished take that are there.
    public func byteCount(of take: TakeName, _ sidecar: Sidecar) -> Int64 {
        sidecar.files.reduce(0) { $0 + (byteCount(ofFile: $1.name, of: take) ?? 0) }
    }

    /// A finished take's sidecar, as it is in its file.
    public func sidecarBytes(of take: TakeName) throws(FileError) -> [UInt8] {
        try files.takeFileContents(sidecarPath(of: take), limit: SidecarFile.mostBytes)
    }

    /// What is known of a finished take.
    /// - Throws: `FileError` or `SidecarError`.
    public func sidecar(of take: TakeName) throws -> Sidecar {
        try sidecar(sidecarBytes(of: take), of: take)
    }

    /// The same, of the bytes of its sidecar.
    /// - Throws: `SidecarError`.
    public func sidecar(_ bytes: [UInt8], of take: TakeName) throws(SidecarError) -> Sidecar {
        let path = sidecarPath(of: take)
        let sidecar = try SidecarFile.sidecar(bytes, path: path)
        guard sidecar.take == take.stem else {
            throw SidecarError(path: path, problem: "take is another than its name says")
        }
        return sidecar
    }
}
