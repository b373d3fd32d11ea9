import Glibc
public import Takes

/// The directory `takes`: the process that has it open is the only one that writes there. May be used by any thread.
///
/// It holds a folder a day, the file `.number` with the last number given, and `.lock`.
public final class TakesDirectory: Sendable {
    /// Its path.
    public let path: String
    let files: FileSystem
    let folder: OpenFile
    private let lock: TakesLock
    /// Takes that were deleted and may come back.
    public let bin = TakesBin()
    /// What kind of file system it lies on.
    public let kind: FileSystemKind
    /// What its path led to when it was opened.
    private let identity: FileIdentity
    /// The last number given, or the highest that is on the disk.
    private let number: Locked<Int>
    private let mark: KitMark?
    private let key: KitKey?
    /// What could not be read, and what of it was not reported yet.
    private let unreadable: Locked<(all: Set<FileError>, news: [FileError])>
    /// What was received of the takes that a failing storage ended, by audio file.
    private let received = Locked<[TakeName: [String: WrittenSound]]>([:])
    /// Finished takes that may go on. Held while a sidecar is revised.
    private let resumptions = Locked<[TakeName: Resumption]>([:])
    /// Takes whose revision was not reported yet.
    private let revised = Locked<[TakeName]>([])

    /// How a take that was finished may go on.
    enum Resumption {
        /// It has a tail.
        case possible
        /// It is being recorded again.
        case underWay
    }

    /// Opens the directory, or makes it; the folder that it is in must be there, so that a card that is not mounted is noticed.
    ///
    /// - Parameters:
    ///   - path: without a slash at its end.
    ///   - files: how it is reached.
    ///   - mark: the highest number that this kit has given elsewhere; nil: it keeps none.
    ///   - key: what its kit is known by; nil: its takes are known by their names alone.
    /// - Throws: `TakesLockError` if another process has it open, or records a take there, else `FileError`; not for a day that cannot
    ///   be read.
    public convenience init(
        path: String, files: FileSystem = FileSystem(), mark: KitMark? = nil, key: KitKey? = nil
    ) throws {
        var takes: [TakeName] = []
        try self.init(path: path, files: files, mark: mark, key: key, takes: &takes)
    }

    /// The same, and the finished takes, by number: their names are read once for both.
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
        self.mark = mark
        self.key = key
        let isNew = (try? files.identity(path)) == nil
        folder = try files.makeFolder(path)
        // Where the folder around it may not be opened, its name is on the disk when the kernel gets to it.
        if isNew, let around = try? files.openFolder(Self.parent(of: path)) { try files.syncFolder(around) }
        identity = try files.identity(path)
        kind = (try? files.kind(of: path)) ?? .other(0)
        self.files = files.on(kind)
        lock = try TakesLock(directory: path, files: self.files)
        var unreadable: [FileError] = []
        // Damaged, or gone: the names on the disk say it as well.
        let last = KitMark.number(in: path, files: files, unreadable: &unreadable)
        // Nothing is made there yet that could need them.
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
        // Its numbers are given, too. A bin that cannot be read is reported when it is read whole; `.number` counts those as well.
        let binned = (try? Self.binned(in: path, files: self.files) { _, _ in }) ?? []
        self.unreadable = Locked((Set(unreadable), unreadable))
        let highest = (names + binned.map(\.take)).map(\.number).filter { $0 <= KitMark.highestCounted }.max()
        number = Locked(max(last ?? 0, highest ?? 0, mark?.last() ?? 0))
    }

    /// Whether another process, or another part of this one, writes an audio file of a take that is not finished.
    private static func isRecorded(_ file: String, of take: TakeName, in path: String, _ files: FileSystem) -> Bool {
        switch AudioFileName(file, of: take)?.stage {
        case .part, .tail: files.isClaimed("\(path)/\(take.day)/\(file)")
        case .final, .committed, nil: false
        }
    }

    /// Locks the folder again if another program removed or replaced the file that is locked.
    /// - Throws: `TakesLockError`, if another process has the folder open now.
    package func renewLock() throws(TakesLockError) { try lock.renew() }

    /// The name of a new take, whose number was never given before and will never be given again, whatever the clock says: neither in
    /// this directory nor, with a mark, by this kit in another one.
    ///
    /// The number is on the disk when this returns. A mark that cannot be written is no reason not to record: `newMarkFailure`
    /// reports it.
    /// - Throws: `FileError`; then the number is not given, and lost.
    ///
    /// - Parameter started: when the take begins, or nil if the clock is not set.
    public func nextTake(
        kit: String, started: WallTime?, nameTime: NameTime = .utc
    ) throws(FileError) -> TakeName {
        let name = try self.number.withLock { last throws(FileError) in
            last = max(last, mark?.last() ?? 0)
            while true {
                guard last < TakeName.highestNumber else { throw FileError("count on in", path, code: EOVERFLOW) }
                last += 1
                let name = TakeName(kit: kit, number: last, started: started, nameTime: nameTime)
                // Files that were put there since the directory was opened keep their names.
                if !isTaken(name) { return name }
            }
        }
        mark?.note(name)
        var site = TakeSite(files: files, takes: folder, name: name)
        try site.perform(.number, content: KitMark.bytes(name.number))
        return name
    }

    /// Whether there is any file of a take.
    private func isTaken(_ name: TakeName) -> Bool {
        do throws(FileError) {
            return try files.entries("\(path)/\(name.day)").contains(where: name.mayOwn)
        } catch {
            guard ![ENOENT, ENOTDIR, ELOOP].contains(error.code) else { return false }
            // A folder that cannot be listed now is no reason not to record: the names that a take gets are examined one by one.
            let documents: [TakeDocument] = [.sidecar, .sidecarPart, .sidecarDraft, .revision, .peaks, .peaksPart]
            let audio = [false, true].map { name.audioFile(part: 1, isUnfiltered: $0) }
            let names = documents.map { $0.name(stem: name.stem) } + audio + audio.map { $0 + ".part" }
            return names.contains { files.isTaken("\(path)/\(name.day)/\($0)") }
        }
    }

    /// What the kit of a new take is known by, or nil if no key can be kept now.
    package func kitID() -> KitID? { key?.prepare() }

    /// Why the kit's mark could not be kept, once for each reason, as a sentence; nil: nothing new.
    package func newMarkFailure() -> String? {
        mark?.newFailure().map { "number: \($0.fact): numbers are counted by the takes that are found alone" }
    }

    /// The last number given, or the highest that is on the disk.
    public var lastNumber: Int { number.withLock { $0 } }

    /// The finished takes, by number. Read from the names of the files alone: a take whose sidecar is damaged is among them.
    public func takes() throws(FileError) -> [TakeName] {
        try finished().sorted()
    }

    /// The takes that are not finished, by number, and those beside which there is a tail, a draft or an audio file without sound: what
    /// a power cut, a crash or a removal that was cut left behind; none that is half moved into the bin. Read from the names of the files; of `.part` files, the beginning too.
    ///
    /// So is a take whose sidecar is gone. One whose sidecar is damaged is not: `takesWithDamagedSidecars` has those.
    ///
    /// A take that is being recorded for the first time is among them; one that was finished, and has a tail or is recorded
    /// again, is not.
    public func leftovers() throws(FileError) -> [TakeName] {
        var finished: Set<TakeName> = []
        // At once: a day that can be read only now and then would have no finished take.
        let all = try names { file, take in
            if Self.isSidecar(file, of: take) { finished.insert(take) }
            return TakeName.isOwnFile(file)
        }
        let goesOn = try names { file, take in
            // Most files, and soon known.
            if file.hasSuffix(".wav") || file.hasSuffix(".json") || file.hasSuffix(".dat") { return false }
            let drafts = [TakeDocument.sidecarPart, .sidecarDraft, .revision, .peaksPart, .removal]
            if drafts.contains(where: { $0.name(stem: take.stem) == file }) { return true }
            return LeftoverTake.isTail(file, of: take, in: folder, files)
                || finished.contains(take) && LeftoverTake.isRemains(file, of: take, in: folder, files)
        }
        // Asked for last: a take that was finished meanwhile may go on.
        let open = resumptions.withLock { Set($0.keys) }
        let leftovers = Set(all).subtracting(finished).union(goesOn).subtracting(open)
        return leftovers.isEmpty ? [] : leftovers.subtracting(try deleted(among: leftovers)).sorted()
    }

    /// Whether a take has an audio file or a draft of its sidecar without a final name, and is not finished.
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

    /// The finished takes that have a WAV file, by number: those among which some may be on their way to FLAC. Read from the
    /// names of the files alone.
    public func takesInWAV() throws(FileError) -> [TakeName] {
        let waves = Set(try names { file, _ in file.hasSuffix(".wav") })
        return try takes().filter(waves.contains)
    }

    /// Why days, or the last number, could not be read, and were passed over. Each is reported once.
    public func newlyUnreadable() -> [FileError] {
        unreadable.withLock { known in
            defer { known.news = [] }
            return known.news
        }
    }

    /// The path of a finished take's sidecar; its other files lie beside it.
    public func sidecarPath(of take: TakeName) -> String { TakesFolder(path: path).sidecarPath(of: take) }

    /// What is known of a finished take.
    /// - Throws: `FileError` or `SidecarError`.
    public func sidecar(of take: TakeName) throws -> Sidecar {
        try TakesFolder(path: path, files: files).sidecar(of: take)
    }

    /// Changes what is known of a finished take, and gives it the next revision.
    ///
    /// To be called by one thread only for the same take, and not while it is removed.
    /// - Parameter change: changes the sidecar; if it leaves it as it is, nothing is written.
    /// - Returns: the sidecar as it is on the disk.
    /// - Throws: `FileError` or `SidecarError`; then the old one is on the disk. `EBUSY` if the take is recorded again.
    public func revise(_ take: TakeName, _ change: (inout Sidecar) -> Void) throws -> Sidecar {
        try resumptions.withLock { resumptions in
            guard resumptions[take] != .underWay else { throw FileError("revise", sidecarPath(of: take), code: EBUSY) }
            return try replace(take, change)
        }
    }

    private func replace(_ take: TakeName, _ change: (inout Sidecar) -> Void) throws -> Sidecar {
        let before = try sidecar(of: take)
        var after = before
        change(&after)
        guard after != before else { return before }
        // There is none above the highest.
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

    /// Whether a finished take is still to be converted, or its conversion was cut before the files that it was made of
    /// were removed.
    /// - Throws: `FileError` or `SidecarError`.
    public func awaitsConversion(_ take: TakeName) throws -> Bool {
        let sidecar = try sidecar(of: take)
        // Not before it is known how it ends.
        guard resumptions.withLock({ $0[take] }) == nil else { return false }
        if sidecar.pendingFormat != nil { return true }
        return try !files.soundsInBoth(sidecar, of: take, in: "\(path)/\(take.day)").isEmpty
    }

    /// Notes how a finished take may go on; nil: it does not. Waits for a revision that is under way.
    func note(_ resumption: Resumption?, of take: TakeName) {
        resumptions.withLock { $0[take] = resumption }
    }

    /// Whether a finished take has a tail, or is recorded again.
    func mayGoOn(_ take: TakeName) -> Bool { resumptions.withLock { $0[take] != nil } }

    /// Removes all files of a finished take. Not to be called while it is played.
    /// - Throws: `FileError`. If the sidecar is gone, it is no take any more, and recovery removes the rest.
    public func remove(_ take: TakeName) throws(FileError) {
        var site = TakeSite(files: files, takes: folder, name: take)
        do throws(FileError) {
            try site.perform(.discard)
        } catch {
            // If that is not known, recovery finds out.
            if (try? contains(take)) == true { try? files.remove(site.path(.removal)) }
            throw error
        }
    }

    /// Whether a finished take is there.
    public func contains(_ take: TakeName) throws(FileError) -> Bool {
        do throws(FileError) {
            _ = try files.identity(sidecarPath(of: take))
            return true
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
            return false
        }
    }

    /// Whether its path still leads to it: not, if it was removed, or its storage was taken out or swapped.
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

    /// Throws: `FileError` with `ENOENT`, if it is not in its place.
    package func checkInPlace() throws(FileError) {
        guard try isInPlace() else { throw FileError("open", path, code: ENOENT) }
    }

    /// Whether a directory is one of takes: it has a day, or a recorder had it open.
    public static func isOne(_ path: String, files: FileSystem = FileSystem()) throws(FileError) -> Bool {
        try files.entries(path).contains { $0 == TakesLock.fileName || TakeName.isDay($0) }
    }

    /// Whether it lies on another file system than the root's, such as a card's that is mounted.
    public var isOnOwnStorage: Bool { Self.isOnOwnStorage(path, files: files) }

    /// The same of a directory that need not be there yet.
    public static func isOnOwnStorage(_ path: String, files: FileSystem) -> Bool {
        guard let root = try? files.identity("/"),
            let place = (try? files.identity(path)) ?? (try? files.identity(parent(of: path)))
        else { return false }
        return place.device != root.device
    }

    /// The folder that a folder is in.
    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Fails if nothing can be written there any more, as the system knows. Writes nothing.
    public func checkWritable() throws(FileError) {
        try files.checkWritable(path)
    }

    /// Writes a few bytes and makes them safe, and makes a file and removes it, as a take would. It takes as long as the storage does.
    /// - Parameter day: the folder that a take would be in, if it is there; nil: that is not known.
    /// - Throws: `FileError`, if the storage does not take them.
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

    /// Whether a day has a folder, as far as is known: a link or a file of that name makes way for one.
    private func isFolder(_ day: String) -> Bool {
        (try? files.status(named: "\(path)/\(day)")).map { $0.kind == .folder } ?? true
    }

    /// What a probe makes: no file of a take, and left out where takes are copied without their `.part` files.
    static let probeFile = ".probe.part"

    /// Fails if no file can be made there, as the system knows. Writes nothing.
    /// - Parameter day: the folder that a take would be in, if it is there.
    public func checkRoom(day: String) throws(FileError) {
        if try files.freeFiles(path) == 0 { throw FileError("make a file in", path, code: ENOSPC) }
        guard isFolder(day) else { return }
        do throws(FileError) {
            try files.checkWritable("\(path)/\(day)")
        } catch {
            guard error.code == ENOENT else { throw error }
        }
    }

    /// Bytes that are free for the recorder where the takes are, or are in the bin, which is emptied for them.
    public func freeBytes() throws(FileError) -> Int64 {
        try freeBytesBesideBin() + bin.byteCount
    }

    /// Notes that a failing storage ended a take: its audio files may hold something else than was received.
    func keepReceivedSound(of take: TakeName, _ audio: [AudioFile]) {
        let sound = Dictionary(uniqueKeysWithValues: audio.map { ($0.name, $0.written) })
        received.withLock { $0[take] = sound }
    }

    /// What was received of a take, by audio file; empty: its audio files hold just that.
    func receivedSound(of take: TakeName) -> [String: WrittenSound] {
        received.withLock { $0[take] ?? [:] }
    }

    /// A take was recovered: what was received of it is not needed any more.
    func discardReceivedSound(of take: TakeName) {
        received.withLock { $0[take] = nil }
    }

    private func finished() throws(FileError) -> [TakeName] {
        try names(owner: { $1 }, isCounted: Self.isSidecar)
    }

    /// Whether a take is finished, since it has this file.
    static func isSidecar(_ file: String, of take: TakeName) -> Bool {
        file.hasSuffix(".json") && file == TakeDocument.sidecar.name(stem: take.stem)
    }

    private func names(
        owner: TakeListing.Owner? = nil, isCounted: (_ file: String, TakeName) -> Bool
    ) throws(FileError) -> [TakeName] {
        var found: [FileError] = []
        let names = try Self.names(in: path, files: files, unreadable: &found, owner: owner, isCounted: isCounted)
        unreadable.withLock { known in
            for error in found where known.all.insert(error).inserted { known.news.append(error) }
        }
        return names
    }

    /// The takes that have a file that passes `isCounted`; each once for every such file.
    /// - Parameters:
    ///   - unreadable: what the days that cannot be read fail with is appended.
    ///   - owner: finds the take of a later part, or nil to read that from heads and sidecars. A caller that counts numbers or sidecars
    ///     passes one, so that no file is read.
    static func names(
        in path: String, files: FileSystem, unreadable: inout [FileError], removesSpacers: Bool = false,
        owner: TakeListing.Owner? = nil, isCounted: (_ file: String, TakeName) -> Bool
    ) throws(FileError) -> [TakeName] {
        var names: [TakeName] = []
        for day in try files.entries(path) where TakeName.isDay(day) {
            let entries: [String]
            do throws(FileError) {
                // What a link leads to lies elsewhere, and is not ours to recover or remove.
                _ = try files.openFolder("\(path)/\(day)", followsLink: false)
                entries = try files.entries("\(path)/\(day)")
            } catch {
                switch error.code {
                // A file or a link that is named like a day holds no takes; a folder that was removed just now none any more.
                case ENOTDIR, ENOENT, ELOOP: break
                // The process's own trouble, not the day's.
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
