public import Files
public import Takes

/// The folder for takes as seen by other programs than the recorder. Nothing in it is locked or written.
public struct TakesFolder: Sendable {
    public let path: String
    let files: FileSystem

    /// Nothing is read yet.
    public init(path: String, files: FileSystem = FileSystem()) {
        self.path = path
        self.files = files
    }

    /// The finished takes, by number, and the errors of days that could not be read. Uses only the names of the files.
    /// - Throws: `FileError` if the folder itself cannot be read.
    public func takes() throws(FileError) -> (takes: [TakeName], unreadable: [FileError]) {
        var unreadable: [FileError] = []
        let takes = try TakesDirectory.names(
            in: path, files: files, unreadable: &unreadable, owner: { $1 }, isCounted: TakesDirectory.isSidecar)
        return (takes.sorted(), unreadable)
    }

    /// The folder that contains a take's files.
    public func folder(of take: TakeName) -> String { "\(path)/\(take.day)" }

    public func sidecarPath(of take: TakeName) -> String {
        "\(folder(of: take))/\(TakeDocument.sidecar.name(stem: take.stem))"
    }

    /// Opens the folder of a day.
    public func open(day: String) throws(FileError) -> TakesDay { try TakesDay("\(path)/\(day)", files: files) }

    /// Attributes that show whether a finished take's sidecar is still the same file.
    public func sidecarAttributes(of take: TakeName) throws(FileError) -> FileAttributes {
        try open(day: take.day).sidecarAttributes(of: take)
    }

    /// The length of a file of a take, or nil if it does not exist or is not a regular file.
    public func byteCount(ofFile name: String, of take: TakeName) -> Int64? {
        (try? open(day: take.day))?.byteCount(of: name)
    }

    /// The total length of all existing files of a finished take.
    public func byteCount(of take: TakeName, _ sidecar: Sidecar) -> Int64 {
        guard let day = try? open(day: take.day) else { return 0 }
        return sidecar.files.reduce(0) { $0 + (day.byteCount(of: $1.name) ?? 0) }
    }

    /// The content of a finished take's sidecar file.
    public func sidecarBytes(of take: TakeName) throws(FileError) -> [UInt8] {
        try open(day: take.day).sidecarBytes(of: take)
    }

    /// The sidecar of a finished take.
    /// - Throws: `FileError` or `SidecarError`.
    public func sidecar(of take: TakeName) throws -> Sidecar {
        try sidecar(sidecarBytes(of: take), of: take)
    }

    /// The same, from the bytes of its sidecar.
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
