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
        try move(from.path, to, but: [.sidecar])
    }

    mutating func moveFromBin() throws(FileError) {
        let (from, to) = (try openBin(), try openDay())
        try move(from.path, to, but: [.binNote, .binNoteDraft, .binnedSidecar, .binnedSidecarDraft, .binnedRemoval])
    }

    /// Moves files of the take. What a cut left half moved is moved on: of a file that has both names, the empty one is no loss.
    private func move(_ from: String, _ to: OpenFile, but kept: [TakeDocument]) throws(FileError) {
        let kept = kept.map { $0.name(stem: name.stem) }
        let names = try files.entries(from).filter {
            TakeName(file: $0, day: name.day) == name && !kept.contains($0)
        }.sorted()
        var moved: [String] = []
        for file in names {
            let (source, there) = ("\(from)/\(file)", "\(to.path)/\(file)")
            guard let length = byteCount(there), length > 0 else {
                moved.append(file)
                continue
            }
            let isEmpty = byteCount(source) == 0
            let isSuperfluous = isEmpty ? true : try isCopy(source, there)
            guard isSuperfluous else { throw FileError("move \(source) to", there, code: EEXIST) }
            try files.remove(source)
        }
        if try files.kind(of: takes.path).splitsNames, !moved.isEmpty {
            for file in moved { _ = try files.create("\(to.path)/\(file)", isNew: false) }
            try files.syncFolder(to)
        }
        for file in moved {
            try files.rename("\(from)/\(file)", to: "\(to.path)/\(file)")
            try settleAny("\(to.path)/\(file)")
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

    /// The length of a file; nil for anything else, or nothing.
    private func byteCount(_ path: String) -> Int64? {
        (try? files.openToRead(path, followsLink: false)).flatMap { try? files.length($0) }
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
