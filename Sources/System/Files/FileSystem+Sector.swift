import Glibc

extension FileSystem {
    /// Makes a file as `create` does. On exFAT, its entry in the folder lies within one sector.
    ///
    /// exFAT rewrites the entry whenever the file grows or is renamed, and a disk writes a sector as a whole. If an
    /// entry crosses a sector boundary, a power cut may leave half of it, and then `fsck` deletes the file.
    package func createWhole(_ path: String, isNew: Bool) throws(FileError) -> OpenFile {
        try makeWhole(path) { () throws(FileError) in try create(path, isNew: isNew) }
    }

    /// Makes a folder as `makeFolder` does. On exFAT, a new folder's entry lies within one sector as well.
    ///
    /// exFAT rewrites the entry when the folder grows. If the entry is lost, so is everything in the folder.
    package func makeWholeFolder(_ path: String) throws(FileError) -> OpenFile {
        // An existing folder may hold files, and stays where it is.
        guard kind == .exFAT, (try? identity(path)) == nil else { return try makeFolder(path) }
        return try makeWhole(path) { () throws(FileError) in try makeFolder(path) }
    }

    private func makeWhole(
        _ path: String, _ make: () throws(FileError) -> OpenFile
    ) throws(FileError) -> OpenFile {
        let (folder, name) = Self.parts(of: path)
        var made = try make()
        guard kind == .exFAT else { return made }
        var used: [String] = []
        // An unreadable folder or a spacer that cannot be made must not prevent recording.
        for spacer in Self.spacers.map({ "\(folder)/\($0)" }) where (try? isSplit(name, in: folder)) ?? false {
            // The entry keeps its place, since the new name is not longer. The new file gets the next free place.
            guard (try? rename(path, to: spacer)) != nil else { continue }
            do throws(FileError) {
                made = try make()
                used.append(spacer)
            } catch {
                // There is only room for one entry.
                try rename(spacer, to: path)
                break
            }
        }
        for spacer in used { removeSpacer(spacer) }
        guard !used.isEmpty else { return made }
        // A sync of the file writes its own sector first. If the sector before it was never used, the entry would be
        // hidden after a power cut and appear later. In the same way a sync of a folder that grew first writes that the
        // folder is a chain of blocks, and then the chain. A sync of another folder writes everything in the order of
        // the disk, where chains come first.
        if let around = try? openFolder(Self.parts(of: folder).folder) { try syncFolder(around) }
        try syncFolder(openFolder(folder))
        return made
    }

    /// Removes the spacers that a power cut may have left of `createWhole` and `makeWholeFolder`, as far as possible.
    package func removeSpacers(in folder: String) {
        guard kind == .exFAT else { return }
        for spacer in Self.spacers { removeSpacer("\(folder)/\(spacer)") }
    }

    package static func isSpacer(_ name: String) -> Bool { spacers.contains(name) }

    private func removeSpacer(_ path: String) {
        do throws(FileError) {
            try remove(path)
        } catch {
            if error.code == EISDIR { try? removeFolder(path) }
        }
    }

    /// The entry of each has 96 bytes. Three of them reach past the sector boundary that an entry of at most 288 bytes
    /// crosses.
    private static let spacers = (1...3).map { ".spacer-\($0)" }

    /// The parent folder of a path, and the last component.
    private static func parts(of path: String) -> (folder: String, name: String) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        return (String(path[..<slash]), String(path[slash...].dropFirst()))
    }

    /// Whether the entry of a file or folder crosses a sector boundary of the folder. The sectors are assumed to have
    /// 512 bytes, the smallest size.
    ///
    /// An entry consists of 32 bytes each for the file, its place, and 15 characters of its name (exFAT specification,
    /// 7.4 to 7.7).
    private func isSplit(_ name: String, in folder: String) throws(FileError) -> Bool {
        guard let start = try entryStart(name, in: folder) else { return false }
        let length = Int64(32 * (2 + (name.utf16.count + 14) / 15))
        return start / 512 != (start + length - 1) / 512
    }
}
