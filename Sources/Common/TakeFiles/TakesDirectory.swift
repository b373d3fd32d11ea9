public import Files
import Glibc
public import Takes

/// The directory `takes`. Only the process that has it open writes there. May be used by any thread.
///
/// It contains one folder per day, the file `.number` with the last number given, and `.lock`.
public final class TakesDirectory: Sendable {
    public let path: String
    let files: FileSystem
    let folder: OpenFile
    private let lock: TakesLock
    /// Deleted takes that can be restored.
    public let bin = TakesBin()
    public let kind: FileSystemKind
    /// The identity of its path when it was opened.
    private let identity: FileIdentity
    let numbers: TakeNumbers
    private let key: KitKey?
    private let readErrors = ReadErrors()
    let receivedSound = ReceivedSound()
    let resumptions = Resumptions()
    /// Takes whose revision was not reported yet.
    private let revised = Locked<[TakeName]>([])

    /// Opens the directory, or makes it. Its parent folder must exist, so that a card that is not mounted is noticed.
    ///
    /// - Parameters:
    ///   - path: without a trailing slash.
    ///   - mark: the highest number that this kit has given elsewhere, or nil if it keeps none.
    ///   - key: identifies the kit; nil if its takes are identified only by their names.
    /// - Throws: `TakesLockError` if another process has it open or records a take there, else `FileError`. A day that
    ///   cannot be read is not an error.
    public convenience init(
        path: String, files: FileSystem = FileSystem(), mark: KitMark? = nil, key: KitKey? = nil
    ) throws {
        var takes: [TakeName] = []
        try self.init(path: path, files: files, mark: mark, key: key, takes: &takes)
    }

    /// The same, and the finished takes, by number. Reads the names once for both.
    public static func open(
        path: String, files: FileSystem = FileSystem(), mark: KitMark? = nil, key: KitKey? = nil
    ) throws -> (TakesDirectory, takes: [TakeName]) {
        var takes: [TakeName] = []
        let directory = try TakesDirectory(path: path, files: files, mark: mark, key: key, takes: &takes)
        return (directory, takes.sorted())
    }

    private init(
        path: String, files: FileSystem, mark: KitMark?, key: KitKey?, takes: inout [TakeName]
    ) throws {
        self.path = path
        self.key = key
        let isNew = (try? files.identity(path)) == nil
        folder = try files.makeFolder(path)
        // If the parent folder may not be opened, the kernel writes the new name later.
        if isNew, let around = try? files.openFolder(Self.parent(of: path)) { try files.syncFolder(around) }
        identity = try files.identity(path)
        kind = (try? files.kind(of: path)) ?? .other(0)
        self.files = files.on(kind)
        lock = try TakesLock(directory: path, files: self.files)
        var unreadable: [FileError] = []
        // If the number is damaged or missing, the names on the disk contain it as well.
        let last = KitMark.number(in: path, files: files, unreadable: &unreadable)
        // No file that could need the spacers is being made yet.
        self.files.removeSpacers(in: path)
        var isRecorded = false
        let names = try Self.names(
            in: path, files: self.files, unreadable: &unreadable, removesSpacers: true, owner: { $1 }
        ) { file, take in
            if Self.isSidecar(file, of: take) { takes.append(take) }
            if Self.isRecorded(file, of: take, in: path, files) { isRecorded = true }
            return true
        }
        guard !isRecorded else { throw TakesLockError(directory: path, sign: .file) }
        // Their numbers were given, too. An unreadable bin is reported when the whole bin is read, and `.number` counts
        // its takes as well.
        let binned = (try? Self.binned(in: path, files: self.files) { _, _ in }) ?? []
        readErrors.note(unreadable)
        let highest = (names + binned.map(\.take)).map(\.number).filter { $0 <= KitMark.highestCounted }.max()
        numbers = TakeNumbers(in: folder, files: self.files, highest: max(last ?? 0, highest ?? 0), mark: mark)
    }

    /// Whether another process, or another part of this one, is writing an audio file of an unfinished take.
    private static func isRecorded(_ file: String, of take: TakeName, in path: String, _ files: FileSystem) -> Bool {
        switch AudioFileName(file, of: take)?.stage {
        case .part, .tail: files.isClaimed("\(path)/\(take.day)/\(file)")
        case .final, .committed, nil: false
        }
    }

    /// Locks the folder again if another program removed or replaced the lock file.
    /// - Throws: `TakesLockError` if another process has the folder open now.
    package func renewLock() throws(TakesLockError) { try lock.renew() }

    /// The name of a new take. Its number was never given before and will never be given again, whatever the clock
    /// says: neither in this directory nor, with a mark, by this kit in another one.
    ///
    /// The number is on the disk when this returns. If the mark cannot be written, recording is still possible, and
    /// `newMarkFailure` reports it.
    /// - Parameter started: when the take begins, or nil if the clock is not set.
    /// - Throws: `FileError`. The number is then lost.
    public func nextTake(
        kit: String, started: WallTime?, nameTime: NameTime = .utc
    ) throws(FileError) -> TakeName {
        try numbers.next(kit: kit, started: started, nameTime: nameTime)
    }

    /// The kit's id for a new take, or nil if no key can be stored now.
    package func kitID() -> KitID? { key?.prepare() }

    /// Why the kit's mark could not be stored, as a sentence. Each reason is returned once, and otherwise nil.
    package func newMarkFailure() -> String? {
        numbers.newMarkFailure()
    }

    /// The last number given, or the highest number on the disk.
    public var lastNumber: Int { numbers.last }

    /// The finished takes, by number. Uses only the names of the files, so a take with a damaged sidecar is included.
    public func takes() throws(FileError) -> [TakeName] {
        try finished().sorted()
    }

    /// The unfinished takes, by number, and the finished takes with a tail, a draft or an audio file without sound next
    /// to them. A power cut, a crash or an interrupted removal leaves them. Takes that are half moved to the bin are
    /// not included. Uses the names of the files, and for `.part` files also their beginning.
    ///
    /// A take with a missing sidecar is included. A take with a damaged sidecar is not: see `takesWithDamagedSidecars`.
    ///
    /// A take that is being recorded for the first time is included. A finished take that has a tail or is recorded
    /// again is not.
    public func leftovers() throws(FileError) -> [TakeName] {
        var finished: Set<TakeName> = []
        // One pass for both: with two, a day that is only sometimes readable could appear to have no finished take.
        let all = try names { file, take in
            if Self.isSidecar(file, of: take) { finished.insert(take) }
            return TakeName.isOwnFile(file)
        }
        let goesOn = try names { file, take in
            // A cheap check that excludes most files.
            if file.hasSuffix(".wav") || file.hasSuffix(".json") || file.hasSuffix(".dat") { return false }
            let drafts = [TakeDocument.sidecarPart, .sidecarDraft, .revision, .peaksPart, .removal]
            if drafts.contains(where: { $0.name(stem: take.stem) == file }) { return true }
            return LeftoverTake.isTail(file, of: take, in: folder, files)
                || finished.contains(take) && LeftoverTake.isRemains(file, of: take, in: folder, files)
        }
        // Read last: a take that was finished meanwhile may continue.
        let leftovers = Set(all).subtracting(finished).union(goesOn).subtracting(resumptions.all)
        return leftovers.isEmpty ? [] : leftovers.subtracting(try deleted(among: leftovers)).sorted()
    }

    /// Whether a take has an audio file or a sidecar draft without its final name, and is not finished.
    package func isUnfinished(_ take: TakeName) throws(FileError) -> Bool {
        guard try !contains(take) else { return false }
        var names: [String] = []
        do throws(FileError) {
            names = try files.entries("\(path)/\(take.day)")
        } catch {
            guard [ENOENT, ENOTDIR, ELOOP].contains(error.code) else { throw error }
        }
        return names.contains { file in
            file == TakeDocument.sidecarPart.name(stem: take.stem) || AudioFileName(file, of: take)?.stage == .part
        }
    }

    /// The finished takes with a WAV file, by number. Some of them may be in conversion to FLAC. Uses only the names of
    /// the files.
    public func takesInWAV() throws(FileError) -> [TakeName] {
        let waves = Set(try names { file, _ in file.hasSuffix(".wav") })
        return try takes().filter(waves.contains)
    }

    /// Why days or the last number could not be read and were skipped. Each error is returned once.
    public func newlyUnreadable() -> [FileError] {
        readErrors.takeNews()
    }

    /// The path of a finished take's sidecar. Its other files are in the same folder.
    public func sidecarPath(of take: TakeName) -> String { TakesFolder(path: path).sidecarPath(of: take) }

    /// The sidecar of a finished take.
    /// - Throws: `FileError` or `SidecarError`.
    public func sidecar(of take: TakeName) throws -> Sidecar {
        try TakesFolder(path: path, files: files).sidecar(of: take)
    }

    /// Changes the sidecar of a finished take, and gives it the next revision.
    ///
    /// For the same take, only one thread may call this, and not while the take is removed.
    /// - Parameter change: changes the sidecar. If it makes no change, nothing is written.
    /// - Returns: the sidecar as it is on the disk.
    /// - Throws: `FileError` or `SidecarError`. The old sidecar is then on the disk. `EBUSY` if the take is recorded
    ///   again.
    public func revise(_ take: TakeName, _ change: (inout Sidecar) -> Void) throws -> Sidecar {
        try resumptions.hold(take) { state in
            guard state != .underWay else { throw FileError("revise", sidecarPath(of: take), code: EBUSY) }
            return try replace(take, change)
        }
    }

    private func replace(_ take: TakeName, _ change: (inout Sidecar) -> Void) throws -> Sidecar {
        let before = try sidecar(of: take)
        var after = before
        change(&after)
        guard after != before else { return before }
        // The highest revision cannot be increased.
        after.revision = before.revision == .max ? .max : before.revision + 1
        var site = TakeSite(files: files, takes: folder, name: take)
        try site.perform(.revise, content: SidecarFile.bytes(after))
        revised.withLock { $0.append(take) }
        return after
    }

    /// The takes whose sidecars were revised since the last call, in order.
    public func newlyRevised() -> [TakeName] {
        revised.withLock { takes in
            defer { takes = [] }
            return takes
        }
    }

    /// Whether a finished take must still be converted, or its conversion was interrupted before the original files
    /// were removed.
    /// - Throws: `FileError` or `SidecarError`.
    public func awaitsConversion(_ take: TakeName) throws -> Bool {
        let sidecar = try sidecar(of: take)
        // Such a take may still continue.
        guard !resumptions.contains(take) else { return false }
        if sidecar.pendingFormat != nil { return true }
        return try !files.soundsInBoth(sidecar, of: take, in: "\(path)/\(take.day)").isEmpty
    }

    /// Removes all files of a finished take. Must not be called while it is played.
    /// - Throws: `FileError`. If the sidecar is gone, it is not a take any more, and recovery removes the rest.
    public func remove(_ take: TakeName) throws(FileError) {
        var site = TakeSite(files: files, takes: folder, name: take)
        do throws(FileError) {
            try site.perform(.discard)
        } catch {
            // If that is unknown, recovery finds out.
            if (try? contains(take)) == true { try? files.remove(site.path(.removal)) }
            throw error
        }
    }

    /// Whether the finished take exists.
    public func contains(_ take: TakeName) throws(FileError) -> Bool {
        do throws(FileError) {
            _ = try files.identity(sidecarPath(of: take))
            return true
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
            return false
        }
    }

    /// Whether its path still leads to it. False if it was removed, or its storage was removed or swapped.
    public func isInPlace() throws(FileError) -> Bool {
        do throws(FileError) {
            return try files.identity(path) == identity
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
            return false
        }
    }

    /// Whether another path leads to it.
    public func isThe(folder path: String) throws(FileError) -> Bool { try files.identity(path) == identity }

    /// Throws `FileError` with `ENOENT` if it is not in its place.
    package func checkInPlace() throws(FileError) {
        guard try isInPlace() else { throw FileError("open", path, code: ENOENT) }
    }

    /// Whether a directory is one of takes: it contains a day, or a recorder had it open.
    public static func isOne(_ path: String, files: FileSystem = FileSystem()) throws(FileError) -> Bool {
        try files.entries(path).contains { $0 == TakesLock.fileName || TakeName.isDay($0) }
    }

    /// Whether it is on another file system than the root's, such as a mounted card.
    public var isOnOwnStorage: Bool { Self.isOnOwnStorage(path, files: files) }

    /// The same for a directory that may not exist yet.
    public static func isOnOwnStorage(_ path: String, files: FileSystem) -> Bool {
        guard let root = try? files.identity("/"),
            let place = (try? files.identity(path)) ?? (try? files.identity(parent(of: path)))
        else { return false }
        return place.device != root.device
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Throws if the system reports that nothing can be written there any more. It writes nothing.
    public func checkWritable() throws(FileError) {
        try files.checkWritable(path)
    }

    /// Writes and syncs a few bytes, and makes and removes a file, as a take would. It blocks while the storage works.
    /// - Parameter day: the folder that a take would be in, or nil if unknown. It need not exist.
    /// - Throws: `FileError` if the storage does not accept them.
    public func probe(day: String? = nil) throws(FileError) {
        try checkWritable()
        try lock.probe()
        try KitMark.makeWay(in: path, files)
        var folders = [path]
        if let day, (try? files.identity("\(path)/\(day)")) != nil, isFolder(day) { folders.append("\(path)/\(day)") }
        for folder in folders {
            let probe = "\(folder)/\(Self.probeFile)"
            try files.makeWay(for: probe)
            let file = try files.create(probe, isNew: false)
            defer { try? files.remove(probe) }
            try files.write([0x0a], to: file, at: 0)
        }
    }

    /// Whether the name of a day is free for a folder or has one, as far as is known. A link or a file with that name
    /// is renamed first.
    private func isFolder(_ day: String) -> Bool {
        (try? files.status(named: "\(path)/\(day)")).map { $0.kind == .folder } ?? true
    }

    /// The file that a probe makes. It is not a file of a take, and copies of takes that omit `.part` files omit it.
    static let probeFile = ".probe.part"

    /// Throws if the system reports that no file can be made there. It writes nothing.
    /// - Parameter day: the folder that a take would be in. It need not exist.
    public func checkRoom(day: String) throws(FileError) {
        if try files.freeFiles(path) == 0 { throw FileError("make a file in", path, code: ENOSPC) }
        guard isFolder(day) else { return }
        do throws(FileError) {
            try files.checkWritable("\(path)/\(day)")
        } catch {
            guard error.code == ENOENT else { throw error }
        }
    }

    /// The free bytes for the recorder, including the bytes in the bin, which is emptied when space is needed.
    public func freeBytes() throws(FileError) -> Int64 {
        try freeBytesBesideBin() + bin.byteCount
    }

    private func finished() throws(FileError) -> [TakeName] {
        try names(owner: { $1 }, isCounted: Self.isSidecar)
    }

    /// Whether this file makes the take a finished one.
    static func isSidecar(_ file: String, of take: TakeName) -> Bool {
        file.hasSuffix(".json") && file == TakeDocument.sidecar.name(stem: take.stem)
    }

    private func names(
        owner: TakeListing.Owner? = nil, isCounted: (_ file: String, TakeName) -> Bool
    ) throws(FileError) -> [TakeName] {
        var found: [FileError] = []
        let names = try Self.names(in: path, files: files, unreadable: &found, owner: owner, isCounted: isCounted)
        readErrors.note(found)
        return names
    }

    /// The takes with a file that passes `isCounted`. A take appears once for every such file.
    /// - Parameters:
    ///   - unreadable: the errors of days that cannot be read are appended to it.
    ///   - owner: finds the take of a later part; nil to find it from headers and sidecars. A caller that counts
    ///     numbers or sidecars passes one, so that no file is read.
    static func names(
        in path: String, files: FileSystem, unreadable: inout [FileError], removesSpacers: Bool = false,
        owner: TakeListing.Owner? = nil, isCounted: (_ file: String, TakeName) -> Bool
    ) throws(FileError) -> [TakeName] {
        var names: [TakeName] = []
        for day in try files.entries(path) where TakeName.isDay(day) {
            let entries: [String]
            do throws(FileError) {
                // The target of a link is elsewhere, and we must not recover or remove anything there.
                _ = try files.openFolder("\(path)/\(day)", followsLink: false)
                entries = try files.entries("\(path)/\(day)")
            } catch {
                switch error.code {
                // A file or a link with the name of a day contains no takes, nor does a folder that has just been
                // removed.
                case ENOTDIR, ENOENT, ELOOP: break
                // These errors come from the process, not from the day.
                case EMFILE, ENFILE, ENOMEM: throw error
                default: unreadable.append(error)
                }
                continue
            }
            if removesSpacers, entries.contains(where: FileSystem.isSpacer) {
                files.removeSpacers(in: "\(path)/\(day)")
            }
            let listing =
                owner.map { TakeListing(entries, day: day, owner: $0) }
                ?? TakeListing(entries, day: day, in: "\(path)/\(day)", files: files)
            for (file, take) in listing.files where isCounted(file, take) { names.append(take) }
        }
        return names
    }
}
