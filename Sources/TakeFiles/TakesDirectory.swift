import Glibc
import Synchronization
public import Takes

/// The directory `takes`: whoever has it open is the only one that writes there. May be used by any thread.
///
/// It holds a folder a day, the file `.number` with the last number given, and `.lock`.
public final class TakesDirectory: Sendable {
    /// Its path.
    public let path: String
    let files: FileSystem
    let folder: OpenFile
    private let lock: TakesLock
    /// What its path led to when it was opened.
    private let identity: FileIdentity
    /// The last number given, or the highest that is on the disk.
    private let number: Mutex<Int>
    /// What could not be read, and what of it nobody was told of yet.
    private let unreadable: Mutex<(all: Set<FileError>, news: [FileError])>
    /// What was heard of the takes that a failing storage ended, by audio file.
    private let doubts = Mutex<[TakeName: [String: HeardSound]]>([:])

    /// Who makes as many takes, one a second, does so for thirty years. A file with a higher number leaves no room for them, so it
    /// is no kit's, and must not keep one from counting on.
    private static let highestCounted = TakeName.highestNumber - 1_000_000_000

    /// Opens the directory, or makes it; the folder that it is in must be there, so that a card that is not mounted is noticed.
    ///
    /// - Parameters:
    ///   - path: without a slash at its end.
    ///   - files: how it is reached.
    /// - Throws: `TakesLockError` if another process has it open, else `FileError`; not for a day that cannot be read.
    public init(path: String, files: FileSystem = FileSystem()) throws {
        self.path = path
        self.files = files
        let isNew = (try? files.identity(path)) == nil
        folder = try files.makeFolder(path)
        // Where the folder around it may not be opened, its name is on the disk when the kernel gets to it.
        if isNew, let around = try? files.openFolder(Self.parent(of: path)) { try files.syncFolder(around) }
        identity = try files.identity(path)
        lock = try TakesLock(directory: path, files: files)
        var unreadable: [FileError] = []
        var written: [UInt8] = []
        do throws(FileError) {
            written = try files.contents("\(path)/\(TakeDocument.number.name(stem: ""))", limit: 32)
        } catch {
            if error.code != ENOENT { unreadable.append(error) }
        }
        // Garbled, or gone: what is on the disk tells as well.
        let text = String(decoding: written, as: UTF8.self)
        let last = text.hasSuffix("\n") ? Int(text.dropLast()).flatMap { $0 < TakeName.highestNumber ? $0 : nil } : nil
        let names = try Self.names(in: path, files: files, unreadable: &unreadable) { _, _ in true }
        self.unreadable = Mutex((Set(unreadable), unreadable))
        let highest = names.map(\.number).filter { $0 <= Self.highestCounted }.max()
        number = Mutex(max(last ?? 0, highest ?? 0, 0))
    }

    /// The name of a new take, whose number was never given before and will never be given again, whatever the clock says.
    ///
    /// The number is on the disk when this returns.
    /// - Throws: `FileError`; then the number is not given, and lost.
    public func nextTake(kit: String, started: WallTime) throws(FileError) -> TakeName {
        let number = try self.number.withLock { last throws(FileError) in
            guard last < TakeName.highestNumber else { throw FileError("count on in", path, code: EOVERFLOW) }
            last += 1
            return last
        }
        let name = TakeName(kit: kit, number: number, started: started)
        var site = TakeSite(files: files, takes: folder, name: name)
        try site.perform(.number, content: Array("\(number)\n".utf8))
        return name
    }

    /// The last number given, or the highest that is on the disk.
    public var lastNumber: Int { number.withLock { $0 } }

    /// The finished takes, by number. Read from the names of the files alone.
    public func takes() throws(FileError) -> [TakeName] {
        try Self.inOrder(finished())
    }

    /// The takes that are not finished, by number: what a power cut, a crash or a removal that was cut left behind. Read
    /// from the names of the files alone.
    ///
    /// A take that is being recorded is among them.
    public func leftovers() throws(FileError) -> [TakeName] {
        let all = try names { _, _ in true }
        // Looked for afterwards: a take that is finished meanwhile is none.
        return try Self.inOrder(Set(all).subtracting(finished()))
    }

    /// The finished takes that have a WAV file, by number: those among which some may be on their way to FLAC. Read from the
    /// names of the files alone.
    public func takesInWAV() throws(FileError) -> [TakeName] {
        let waves = Set(try names { file, _ in file.hasSuffix(".wav") })
        return try takes().filter(waves.contains)
    }

    /// Why days, or the last number, could not be read, and were passed over. Each is told once.
    public func newlyUnreadable() -> [FileError] {
        unreadable.withLock { known in
            defer { known.news = [] }
            return known.news
        }
    }

    /// The path of a finished take's sidecar; its other files lie beside it.
    public func sidecarPath(of take: TakeName) -> String {
        "\(path)/\(take.day)/\(TakeDocument.sidecar.name(stem: take.stem))"
    }

    /// What is known of a finished take.
    /// - Throws: `FileError` or `SidecarError`.
    public func sidecar(of take: TakeName) throws -> Sidecar {
        let path = sidecarPath(of: take)
        let sidecar = try SidecarFile.sidecar(files.contents(path, limit: 64 << 20), path: path)
        guard sidecar.take == take.stem else {
            throw SidecarError(path: path, problem: "take is another than its name says")
        }
        return sidecar
    }

    /// Changes what is known of a finished take, and gives it the next revision.
    ///
    /// To be called by one thread only for the same take, and not while it is removed.
    /// - Parameter change: changes the sidecar; if it leaves it as it is, nothing is written.
    /// - Returns: the sidecar as it is on the disk.
    /// - Throws: `FileError` or `SidecarError`; then the old one is on the disk.
    public func revise(_ take: TakeName, _ change: (inout Sidecar) -> Void) throws -> Sidecar {
        let before = try sidecar(of: take)
        var after = before
        change(&after)
        guard after != before else { return before }
        // There is none above the highest.
        after.revision = before.revision == .max ? .max : before.revision + 1
        var site = TakeSite(files: files, takes: folder, name: take)
        try site.perform(.revise, content: SidecarFile.bytes(after))
        return after
    }

    /// Whether a finished take is still to be converted, or its conversion was cut before the files that it was made of
    /// were removed.
    /// - Throws: `FileError` or `SidecarError`.
    public func awaitsConversion(_ take: TakeName) throws -> Bool {
        let sidecar = try sidecar(of: take)
        if sidecar.pendingFormat != nil { return true }
        return sidecar.parts.contains { part in
            let base = part.file.prefix { $0 != "." }
            return part.file.hasSuffix(".flac") && (try? files.identity("\(path)/\(take.day)/\(base).wav")) != nil
        }
    }

    /// Removes all files of a finished take. Not to be called while it is played.
    public func remove(_ take: TakeName) throws(FileError) {
        var site = TakeSite(files: files, takes: folder, name: take)
        try site.perform(.discard)
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

    /// Writes a few bytes and makes them safe. It takes as long as the storage does.
    /// - Throws: `FileError`, if the storage does not take them.
    public func probe() throws(FileError) {
        try checkWritable()
        try lock.probe()
    }

    /// Bytes that are free for the recorder where the takes are.
    public func freeBytes() throws(FileError) -> Int64 {
        try files.freeBytes(path)
    }

    /// Takes note that a failing storage ended a take: its audio files may hold something else than was heard.
    func doubt(_ take: TakeName, _ audio: [AudioFile]) {
        let heard = Dictionary(uniqueKeysWithValues: audio.map { ($0.name, $0.heard) })
        doubts.withLock { $0[take] = heard }
    }

    /// What was heard of a take, by audio file; empty: nothing speaks against what they hold.
    func heard(of take: TakeName) -> [String: HeardSound] {
        doubts.withLock { $0[take] ?? [:] }
    }

    /// A take was recovered: what was heard of it is of no more use.
    func settle(_ take: TakeName) {
        doubts.withLock { $0[take] = nil }
    }

    private func finished() throws(FileError) -> [TakeName] {
        try names { $0 == TakeDocument.sidecar.name(stem: $1.stem) }
    }

    private func names(isCounted: (_ file: String, TakeName) -> Bool) throws(FileError) -> [TakeName] {
        var found: [FileError] = []
        let names = try Self.names(in: path, files: files, unreadable: &found, isCounted: isCounted)
        unreadable.withLock { known in
            for error in found where known.all.insert(error).inserted { known.news.append(error) }
        }
        return names
    }

    private static func inOrder(_ names: some Sequence<TakeName>) -> [TakeName] {
        names.sorted { ($0.number, $0.day, $0.stem) < ($1.number, $1.day, $1.stem) }
    }

    /// The takes that have a file that passes `isCounted`; each once for every such file.
    /// - Parameter unreadable: what the days that cannot be read fail with is appended.
    private static func names(
        in path: String, files: FileSystem, unreadable: inout [FileError],
        isCounted: (_ file: String, TakeName) -> Bool
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
                // A file or a link that is named like a day holds no takes; a folder that somebody just removed none any more.
                case ENOTDIR, ENOENT, ELOOP: break
                // The process's own trouble, not the day's.
                case EMFILE, ENFILE, ENOMEM: throw error
                default: unreadable.append(error)
                }
                continue
            }
            for file in entries {
                if let name = TakeName(file: file, day: day), isCounted(file, name) { names.append(name) }
            }
        }
        return names
    }
}
