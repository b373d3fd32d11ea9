package import Takes

/// The take of a later part in a folder, where its name leaves that open: what its head says, or else the sidecar that lists it.
package struct PartOwner: Sendable {
    private let folder: String
    private let files: FileSystem

    /// - Parameter folder: where the part is.
    package init(in folder: String, files: FileSystem) {
        self.folder = folder
        self.files = files
    }

    /// The stem of the take, or nil if nothing that can be read says it.
    /// - Parameter stems: of the takes in the folder that may have the part.
    package func callAsFunction(_ part: String, _ stems: [String]) -> String? {
        (try? stem(inHeadOf: part)) ?? stems.first { lists($0, part) }
    }

    private func stem(inHeadOf part: String) throws(FileError) -> String? {
        let file = try files.openToRead("\(folder)/\(part)", followsLink: false)
        if let origin = WAVHeaderReading(try files.read(file, at: 0, count: WAVHeader.byteCount))?.origin {
            return origin.stem
        }
        // The rate matters for dates alone.
        return try FLACReading(file, files: files, rateHz: 1_000_000)?.comments["TAKE"]
    }

    private func lists(_ stem: String, _ part: String) -> Bool {
        let base = part.prefix { $0 != "." }
        return [TakeDocument.sidecar, .sidecarPart, .sidecarDraft].contains { document in
            let path = "\(folder)/\(document.name(stem: stem))"
            guard let file = try? files.openToRead(path, followsLink: false),
                let bytes = try? files.contents(of: file, limit: SidecarFile.mostBytes),
                let sidecar = try? SidecarFile.sidecar(bytes, path: path)
            else { return false }
            return sidecar.audioFiles.contains { $0.prefix { $0 != "." } == base }
        }
    }
}

extension TakeListing {
    /// Sorts the files of a folder.
    /// - Parameter folder: where they are.
    package init(_ names: some Sequence<String>, day: String, in folder: String, files: FileSystem) {
        let owner = PartOwner(in: folder, files: files)
        self.init(names, day: day) { owner($0, $1) }
    }

    /// The files of a take, in the order in which they were given.
    /// - Parameter folder: where they are.
    package static func files(
        of take: TakeName, in names: some Sequence<String>, folder: String, files: FileSystem
    ) -> [String] {
        let owner = PartOwner(in: folder, files: files)
        return Self.files(of: take, in: names) { owner($0, $1) }
    }
}

extension BroadcastOrigin {
    /// The stem of the take that a recorder wrote it for, or nil if it does not say one.
    var stem: String? {
        guard originator == "Fieldfare", description.hasPrefix("Take ") else { return nil }
        let stem = description.dropFirst(5).prefix { $0 != "," }
        return stem.suffix(32) == reference ? String(stem) : nil
    }
}
