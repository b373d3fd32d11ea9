import Glibc

extension FileSystem {
    /// Makes a file as `create` does; on exFAT, its entry in the folder lies in one sector.
    ///
    /// exFAT writes the entry again whenever the file grows or gets another name, and a disk writes a sector as a whole. Of an
    /// entry across two sectors a power cut may leave half, and then `fsck` deletes the file.
    func createWhole(_ path: String, isNew: Bool) throws(FileError) -> OpenFile {
        try makeWhole(path) { () throws(FileError) in try create(path, isNew: isNew) }
    }

    /// Makes a folder as `makeFolder` does; on exFAT, its entry lies in one sector as well, unless it was there before.
    ///
    /// That is written again when the folder grows, and all that is in the folder goes with it.
    func makeWholeFolder(_ path: String) throws(FileError) -> OpenFile {
        // One that is there may hold files, and stays where it is.
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
        // A folder that cannot be read, and a spacer that cannot be had, are no reason not to record.
        for spacer in Self.spacers.map({ "\(folder)/\($0)" }) where (try? isSplit(name, in: folder)) ?? false {
            // The entry stays where it is under a name that is not longer, and what is made gets the next free place.
            guard (try? rename(path, to: spacer)) != nil else { continue }
            do throws(FileError) {
                made = try make()
                used.append(spacer)
            } catch {
                // There is room for one alone.
                try rename(spacer, to: path)
                break
            }
        }
        for spacer in used { removeSpacer(spacer) }
        guard !used.isEmpty else { return made }
        // A sync of the file writes its own sector first. Behind one that was never used, it would be hidden after a power cut, and
        // appear later. In the same way a sync of a folder that grew writes first that it is a chain of blocks, and the chain after
        // that. The sync of another folder writes all of it in the order of the disk, where chains come first.
        if let around = try? openFolder(Self.parts(of: folder).folder) { try syncFolder(around) }
        try syncFolder(openFolder(folder))
        return made
    }

    /// Removes what a power cut may have left of `createWhole` and `makeWholeFolder`, as far as that can be removed.
    func removeSpacers(in folder: String) {
        guard kind == .exFAT else { return }
        for spacer in Self.spacers { removeSpacer("\(folder)/\(spacer)") }
    }

    /// Whether a name is that of a spacer.
    static func isSpacer(_ name: String) -> Bool { spacers.contains(name) }

    private func removeSpacer(_ path: String) {
        do throws(FileError) {
            try remove(path)
        } catch {
            if error.code == EISDIR { try? removeFolder(path) }
        }
    }

    /// The entry of each has 96 bytes, so that three of them pass the end of a sector that an entry of 288 bytes or less lay across.
    private static let spacers = (1...3).map { ".spacer-\($0)" }

    /// The folder that a path leads to something in, and its name there.
    private static func parts(of path: String) -> (folder: String, name: String) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        return (String(path[..<slash]), String(path[slash...].dropFirst()))
    }

    /// Whether the entry of a file or folder lies across two sectors of the folder, of 512 bytes, the smallest there are.
    ///
    /// It is a set of 32 bytes each for the file, its place, and 15 characters of its name (exFAT specification, 7.4 to 7.7).
    private func isSplit(_ name: String, in folder: String) throws(FileError) -> Bool {
        guard let start = try entryStart(name, in: folder) else { return false }
        let length = Int64(32 * (2 + (name.utf16.count + 14) / 15))
        return start / 512 != (start + length - 1) / 512
    }
}
