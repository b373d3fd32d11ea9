import Files
import Glibc
import Takes

// Moves a take to the bin and back.
extension TakeSite {
    /// The folder of the take's day in the bin.
    var binPath: String { "\(takes.path)/\(TakesBin.folderName)/\(name.day)" }

    /// Refuses a link or a file in the bin's place (`ENOTDIR`), and another file system (`EXDEV`), to which nothing can
    /// be renamed.
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
        // A person who moved the take back moved these notes, too. The bin has its own.
        for note in Self.notes { try files.remove("\(from.path)/\(note.name(stem: name.stem))") }
    }

    mutating func moveFromBin() throws(FileError) {
        let (from, to) = (try openBin(), try openDay())
        try move(from.path, to, but: Self.ofBin, isOwnOnly: false)
    }

    /// Throws if another file has the name of a file of the take in the bin. `.bin` removes the documents that are not
    /// checked.
    func checkNamesInBin() throws(FileError) {
        _ = try moves(
            "\(takes.path)/\(name.day)", binPath, but: [.sidecar, .revision, .removal] + Self.notes,
            isOwnOnly: true)
    }

    /// The same for the day's folder.
    func checkNamesInDay() throws(FileError) {
        _ = try moves(binPath, "\(takes.path)/\(name.day)", but: Self.ofBin, isOwnOnly: false)
    }

    /// A file of the take in the bin that is not proved equal to the file of the same name in the day's folder, or nil
    /// if all are equal.
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
    /// Those of them whose names the files of a take have nowhere else.
    static let notes: [TakeDocument] = [.binNote, .binNoteDraft]

    private enum Move {
        case rename
        /// An empty file has the new name, as after a power cut.
        case replaceEmpty
        /// The file is empty, or equal to the file with the new name.
        case drop
    }

    /// Decides how each file of the take must be moved.
    /// - Parameter isOwnOnly: whether to leave files to which a person gave names that begin with the take's stem.
    /// - Throws: `EEXIST` if a different file has one of the names. No file is moved then.
    private func moves(
        _ from: String, _ to: String, but kept: [TakeDocument], isOwnOnly: Bool
    ) throws(FileError) -> [(file: String, move: Move)] {
        let kept = kept.map { $0.name(stem: name.stem) }
        var names = try TakeListing.files(of: name, in: files.entries(from), folder: from, files: files)
            .filter { !kept.contains($0) && (!isOwnOnly || TakeName.isOwnFile($0)) }.sorted()
        // Without the other files, a later part would count as a take of its own in the day's folder. So it leaves that
        // folder first, and returns last.
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

    /// Moves the files of the take, and completes interrupted moves.
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

    /// Syncs a file. Objects that are not regular files cannot be synced and are skipped.
    private func settleAny(_ path: String) throws(FileError) {
        do throws(FileError) {
            try files.settle(path)
        } catch {
            guard [ELOOP, EISDIR, ENXIO, EINVAL, EACCES].contains(error.code) else { throw error }
        }
    }

    /// The length of a regular file, or nil if it does not exist or cannot be read.
    private func byteCount(_ path: String) -> Int64? {
        guard (try? files.openFolder(path, followsLink: false)) == nil else { return nil }
        return (try? files.openToRead(path, followsLink: false)).flatMap { try? files.length($0) }
    }

    /// Whether two names have equal content, so that one may be removed. On FAT they may share the same blocks, so
    /// neither may be removed.
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
