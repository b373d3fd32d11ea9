package import Files
package import Takes

/// Finds the take of a later part in a folder: the take whose sidecar lists the part, or else the take that the part's
/// header names.
package struct PartOwner: Sendable {
    private let folder: String
    private let files: FileSystem

    /// - Parameter folder: the folder that contains the part.
    package init(in folder: String, files: FileSystem) {
        self.folder = folder
        self.files = files
    }

    /// The stems of the takes that may own the part. If the owner is known, only its stem. A take does not own the part
    /// if its sidecar does not list it.
    /// - Parameter stems: of the takes in the folder with the part's kit name and number.
    package func callAsFunction(_ part: String, _ stems: [String]) -> [String] {
        let name = TakeFileName(part)
        let named = (try? stem(inHeadOf: part)).flatMap { stem in
            TakeName(stem: stem, day: "").flatMap { name?.mayBe(of: $0) == true ? stem : nil }
        }
        if let named, stems == [named] { return stems }
        let judged = stems.map { (stem: $0, isListed: isListed(part, by: $0)) }
        // If a take and its sidecar were renamed, the headers of its files still contain the old stem.
        let listing = judged.filter { $0.isListed == true }.map(\.stem)
        if let named, listing.isEmpty || listing.contains(named) { return [named] }
        if !listing.isEmpty { return listing }
        let unread = judged.filter { $0.isListed == nil }.map(\.stem)
        // A finished sidecar does not list unfinished parts.
        let isUnfinished = [AudioFile.Stage.part, .tail].contains { part.hasSuffix($0.suffix) }
        return unread.isEmpty && isUnfinished ? stems : unread
    }

    private func stem(inHeadOf part: String) throws(FileError) -> String? {
        let file = try files.openToRead("\(folder)/\(part)", followsLink: false)
        if let origin = WAVHeaderReading(try files.read(file, at: 0, count: WAVHeader.byteCount))?.origin {
            return origin.stem
        }
        // The rate is only needed for dates.
        return try FLACReading(file, files: files, rateHz: 1_000_000)?.comments["TAKE"]
    }

    /// Whether the sidecar of a take lists the part, or nil if it cannot be read or the take is not finished.
    private func isListed(_ part: String, by stem: String) -> Bool? {
        let drafts = [TakeDocument.sidecarPart, .sidecarDraft]
        let found = ([.sidecar] + drafts).compactMap { sounds(in: $0.name(stem: stem)) }
        let base = part.prefix { $0 != "." }
        if found.joined().contains(where: { $0.prefix { $0 != "." } == base }) { return true }
        let isFinished = !drafts.contains { files.isTaken("\(folder)/\($0.name(stem: stem))") }
        return isFinished && !found.isEmpty ? false : nil
    }

    /// The audio files that a sidecar lists, or nil if it cannot be read.
    private func sounds(in sidecar: String) -> [String]? {
        let path = "\(folder)/\(sidecar)"
        guard let file = try? files.openToRead(path, followsLink: false),
            let bytes = try? files.contents(of: file, limit: SidecarFile.mostBytes)
        else { return nil }
        return try? SidecarFile.sidecar(bytes, path: path).audioFiles
    }
}

extension TakeListing {
    /// Groups the files of a folder by take.
    /// - Parameter folder: the folder that contains the files.
    package init(_ names: some Sequence<String>, day: String, in folder: String, files: FileSystem) {
        let owner = PartOwner(in: folder, files: files)
        self.init(names, day: day) { owner($0, $1) }
    }

    /// The files of a take, in the given order.
    /// - Parameter folder: the folder that contains the files.
    package static func files(
        of take: TakeName, in names: some Sequence<String>, folder: String, files: FileSystem
    ) -> [String] {
        let owner = PartOwner(in: folder, files: files)
        return Self.files(of: take, in: names) { owner($0, $1) }
    }
}

extension BroadcastOrigin {
    /// The stem of the take for which a recorder wrote the chunk, or nil if the chunk does not name one.
    var stem: String? {
        guard originator == "Fieldfare", description.hasPrefix("Take ") else { return nil }
        let stem = description.dropFirst(5).prefix { $0 != "," }
        return stem.suffix(32) == reference ? String(stem) : nil
    }
}
