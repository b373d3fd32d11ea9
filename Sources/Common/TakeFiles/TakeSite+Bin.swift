import Glibc
import Takes

// How a take gets into the bin, and out of it.
extension TakeSite {
    /// The folder of the take's day in the bin.
    var binPath: String { "\(takes.path)/\(TakesBin.folderName)/\(name.day)" }

    /// A link or a file in the bin's place is refused (`ENOTDIR`), and so is another file system (`EXDEV`): nothing can be renamed to it.
    mutating func makeBin() throws(FileError) {
        let around = "\(takes.path)/\(TakesBin.folderName)"
        let folder = try makeOwnFolder(around)
        bin = try makeOwnFolder(binPath)
        try files.syncFolder(folder)
        for path in [around, binPath] {
            guard try files.identity(path).device == files.identity(takes.path).device else {
                throw FileError("use", path, code: EXDEV)
            }
        }
    }

    mutating func openBin() throws(FileError) -> OpenFile {
        if let bin { return bin }
        _ = try files.openFolder("\(takes.path)/\(TakesBin.folderName)", followsLink: false)
        let folder = try files.openFolder(binPath, followsLink: false)
        bin = folder
        return folder
    }

    private func makeOwnFolder(_ path: String) throws(FileError) -> OpenFile {
        do throws(FileError) {
            return try files.openFolder(path, followsLink: false)
        } catch {
            guard error.code == ENOENT else { throw error }
            return try files.makeWholeFolder(path)
        }
    }

    mutating func moveToBin() throws(FileError) {
        let (from, to) = (try openDay(), try openBin())
        try move(from.path, to, but: [.sidecar] + Self.notes, isOwnOnly: true)
        // A person who moved the take back moved them with it. The bin has its own.
        for note in Self.notes { try files.remove("\(from.path)/\(note.name(stem: name.stem))") }
    }

    mutating func moveFromBin() throws(FileError) {
        let (from, to) = (try openBin(), try openDay())
        try move(from.path, to, but: Self.ofBin, isOwnOnly: false)
    }

    /// That no other file has the name of a file of the take in the bin. `.bin` removes the documents that are left out.
    func checkNamesInBin() throws(FileError) {
        _ = try moves(
            "\(takes.path)/\(name.day)", binPath, but: [.sidecar, .revision, .removal] + Self.notes,
            isOwnOnly: true)
    }

    /// The same in the day's folder.
    func checkNamesInDay() throws(FileError) {
        _ = try moves(binPath, "\(takes.path)/\(name.day)", but: Self.ofBin, isOwnOnly: false)
    }

    /// A file of the take in the bin that is not known to be the same as the one of its name in the day's folder; nil: there is none.
    func fileThatDiffers() throws(FileError) -> String? {
        let documents = Self.ofBin.filter { $0 != .binnedSidecar }.map { $0.name(stem: name.stem) }
        for file in try files.ownFiles(of: name, in: binPath) where !documents.contains(file) {
            let there = path(file)
            guard byteCount(there) != nil, try isCopy("\(binPath)/\(file)", there) else { return file }
        }
        return nil
    }

    /// The documents of a take that stay in the bin.
    static let ofBin = notes + [.binnedSidecar, .binnedSidecarDraft, .binnedRemoval]
    /// Those of them whose names no file of a take has elsewhere.
    static let notes: [TakeDocument] = [.binNote, .binNoteDraft]

    /// What is done with one file.
    private enum Move {
        case rename
        /// An empty file is in its place, as a cut leaves it.
        case replaceEmpty
        /// It is empty, or the same as what is in its place.
        case drop
    }

    /// What is to be done with the files of the take.
    /// - Parameter isOwnOnly: whether files stay that a person gave names that begin with its stem.
    /// - Throws: `EEXIST`, if there is another file of a name: then none is moved.
    private func moves(
        _ from: String, _ to: String, but kept: [TakeDocument], isOwnOnly: Bool
    ) throws(FileError) -> [(file: String, move: Move)] {
        let kept = kept.map { $0.name(stem: name.stem) }
        var names = try TakeListing.files(of: name, in: files.entries(from), folder: from, files: files)
            .filter { !kept.contains($0) && (!isOwnOnly || TakeName.isOwnFile($0)) }.sorted()
        // A later part alone would be a take of its own to the day: it leaves that first, and comes back last.
        if !isOwnOnly { names.reverse() }
        var moves: [(file: String, move: Move)] = []
        for file in names {
            let (source, there) = ("\(from)/\(file)", "\(to)/\(file)")
            let length = byteCount(there)
            if length == nil, !files.isTaken(there) {
                moves.append((file, .rename))
            } else if length == 0 {
                moves.append((file, .replaceEmpty))
            } else {
                let isSuperfluous = length == nil ? false : byteCount(source) == 0 ? true : try isCopy(source, there)
                guard isSuperfluous else { throw FileError("move \(source) to", there, code: EEXIST) }
                moves.append((file, .drop))
            }
        }
        return moves
    }

    /// Moves files of the take, and moves on what a cut left half moved.
    private func move(_ from: String, _ to: OpenFile, but kept: [TakeDocument], isOwnOnly: Bool) throws(FileError) {
        let moves = try moves(from, to.path, but: kept, isOwnOnly: isOwnOnly)
        for (file, move) in moves where move == .drop { try files.remove("\(from)/\(file)") }
        let moved = moves.filter { $0.move != .drop }
        let isReserved = try files.kind(of: takes.path).splitsNames
        if isReserved, !moved.isEmpty {
            for (file, _) in moved { _ = try files.create("\(to.path)/\(file)", isNew: false) }
            try files.syncFolder(to)
        }
        for (file, move) in moved {
            let (source, there) = ("\(from)/\(file)", "\(to.path)/\(file)")
            if isReserved || move == .replaceEmpty {
                try files.rename(source, to: there)
            } else {
                try files.renameNew(source, to: there)
            }
            try settleAny(there)
        }
    }

    /// Syncs a file; what is no file, and no recorder's, has nothing to sync.
    private func settleAny(_ path: String) throws(FileError) {
        do throws(FileError) {
            try files.settle(path)
        } catch {
            guard [ELOOP, EISDIR, ENXIO, EINVAL, EACCES].contains(error.code) else { throw error }
        }
    }

    /// The length of a file; nil for anything else, nothing, or what cannot be read.
    private func byteCount(_ path: String) -> Int64? {
        guard (try? files.openFolder(path, followsLink: false)) == nil else { return nil }
        return (try? files.openToRead(path, followsLink: false)).flatMap { try? files.length($0) }
    }

    /// Whether two names stand for the same bytes, of which one may go. On FAT they may be the same blocks, of which none may.
    private func isCopy(_ path: String, _ other: String) throws(FileError) -> Bool {
        switch try files.kind(of: takes.path) {
        case .fat, .exFAT: return false
        case .journaled, .volatile, .other: break
        }
        let (first, second) = (
            try files.openToRead(path, followsLink: false), try files.openToRead(other, followsLink: false)
        )
        guard try files.length(first) == files.length(second) else { return false }
        var place: Int64 = 0
        while true {
            let piece = try files.read(first, at: place, count: 1 << 20)
            guard try files.read(second, at: place, count: 1 << 20) == piece else { return false }
            if piece.isEmpty { return true }
            place += Int64(piece.count)
        }
    }
}
