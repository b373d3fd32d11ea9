public import Files
import Glibc
public import Takes

/// The bin, `takes/.bin`, in memory: deleted takes that can be restored. On the disk it has one folder per day, like
/// `takes`. May be used by any thread; `TakesDirectory` makes the changes on the disk.
public final class TakesBin: Sendable {
    /// Its folder in the folder for takes. The name is not that of a day, so lists of takes skip it.
    public static let folderName = ".bin"
    /// A take stays in the bin for this long, unless its space is needed earlier.
    public static let patience = Duration.seconds(30 * 86400)

    public struct Item: Hashable, Sendable {
        /// Its name, with the folder of its day.
        public var take: TakeName
        /// Bytes of all its files.
        public var byteCount: Int64
        /// The date of its deletion, ISO 8601 in UTC, or nil if the clock was not set.
        public var binned: String?
        /// The bin's age in seconds when the take was deleted.
        var since: Int64
        /// Its files in the folder of its day, where a person put them back. While they are there, the take is not
        /// removed.
        public var putBack: [String] = []
        /// Whether its sidecar is in the bin, too. Without it, the take is deleted for good only if a person names it.
        public var hasSidecar = true
        /// Whether it could not be removed. Others are removed before it, and its bytes do not count as free.
        var isStuck = false

        /// Whether the take is both in the folder of its day, with its sidecar, and in the bin.
        public var isTwice: Bool { hasSidecar && putBack.contains(TakeDocument.sidecar.name(stem: take.stem)) }

        /// Whether it may be removed when space is needed.
        public var isFree: Bool { putBack.isEmpty && hasSidecar && !isStuck }
    }

    private struct State {
        /// The oldest first.
        var items: [Item] = []
        var isRead = false
        var isReadAgain = false
        var age: BinAge?
        var freeBytes: Int64?
        /// Why the bin, or takes in it, could not be read, and the sentences that were not reported yet.
        var problems: Set<String> = []
        var news: [String] = []
    }

    private let state = Locked(State())

    /// The oldest first.
    public var items: [Item] { state.withLock(\.items) }
    /// Whether the content that it had when its directory was opened is known.
    public var isRead: Bool { state.withLock(\.isRead) }
    /// Whether some of it could not be read, so that it must be read once more.
    public internal(set) var isReadAgain: Bool {
        get { state.withLock(\.isReadAgain) }
        set { state.withLock { $0.isReadAgain = newValue } }
    }
    /// Bytes of all takes in it that can be removed.
    public var byteCount: Int64 { state.withLock { $0.items.reduce(0) { $1.isFree ? $0 + $1.byteCount : $0 } } }
    /// The next take to remove when space is needed.
    public var oldest: Item? { state.withLock { $0.items.first(where: \.isFree) } }
    /// The free bytes outside the bin at the last reading, if there was one.
    public var lastFreeBytes: Int64? { state.withLock(\.freeBytes) }

    /// The sentence about a take that stays in the bin because these files of it are in the folder of its day.
    public static func putBack(_ files: String, of take: TakeName) -> String {
        "\(files) was put back by hand: the take stays in the bin until 'fieldfare bin restore \(take.stem)'"
    }

    /// The sentence about a take that is in the bin with its sidecar, and in the folder of its day as well.
    public static func copiedBack(_ take: TakeName, to folder: String) -> String {
        "it was copied back by hand: the take stays in the bin until 'fieldfare bin empty \(take.stem)', which deletes nothing in "
            + folder
    }

    /// The sentence about files of a take that are in the bin without its sidecar.
    public static func withoutSidecar(_ take: TakeName) -> String {
        "its sidecar is gone from the bin, and its other files stay there until 'fieldfare bin restore \(take.stem)', which makes "
            + "a new one, or 'fieldfare bin empty \(take.stem)'"
    }

    /// Whether the bin contains files of a take without its sidecar, and no removal was begun.
    /// - Parameter names: of its files in the bin.
    static func isWithoutSidecar(_ take: TakeName, _ names: [String]) -> Bool {
        let documents = TakeSite.ofBin.map { $0.name(stem: take.stem) }
        return !names.contains(TakeDocument.binnedSidecar.name(stem: take.stem))
            && !names.contains(TakeDocument.binnedRemoval.name(stem: take.stem))
            && names.contains { TakeName.isOwnFile($0) && !documents.contains($0) }
    }

    /// The newest matching take in the bin.
    /// - Parameter day: the folder of its day; nil matches every day.
    public func find(stem: String, day: String? = nil) -> Item? {
        items.last { $0.take.stem == stem && (day ?? $0.take.day) == $0.take.day }
    }

    /// Why some of it could not be read, as sentences. Each is returned once.
    public func newProblems() -> [String] {
        state.withLock { state in
            defer { state.news = [] }
            return state.news
        }
    }

    /// Marks a take that cannot be removed now. Its removal is tried again only after the bin was read again.
    public func passOver(_ take: TakeName) {
        state.withLock { state in
            for index in state.items.indices where state.items[index].take == take { state.items[index].isStuck = true }
        }
    }

    func note(freeBytes: Int64) { state.withLock { $0.freeBytes = freeBytes } }

    func note(problem: String) {
        state.withLock { if $0.problems.insert(problem).inserted { $0.news.append(problem) } }
    }

    func couldNotBeRead() {
        state.withLock { ($0.isRead, $0.isReadAgain) = (true, true) }
    }

    func wasRead(_ items: [Item]) {
        set(items)
        state.withLock { $0.isRead = true }
    }

    func set(_ items: [Item]) {
        state.withLock { $0.items = items.sorted { ($0.since, $0.take) < ($1.since, $1.take) } }
    }

    func add(_ item: Item) {
        remove(item.take)
        set(items + [item])
    }

    func remove(_ take: TakeName) { state.withLock { $0.items.removeAll { $0.take == take } } }

    var age: BinAge? {
        get { state.withLock(\.age) }
        set { state.withLock { $0.age = newValue } }
    }

    /// The takes whose time in the bin is over, the oldest first.
    public var overdue: [Item] {
        state.withLock { state in
            guard let age = state.age?.seconds else { return [] }
            return state.items.filter { $0.isFree && age - $0.since >= Int64(Self.patience.inSeconds) }
        }
    }
}

extension FileSystem {
    /// The files of a take in a folder that a recorder made, sorted, without the bin's notes.
    func ownFiles(of take: TakeName, in folder: String) throws(FileError) -> [String] {
        let notes = TakeSite.notes.map { $0.name(stem: take.stem) }
        return try TakeListing.files(of: take, in: entries(folder), folder: folder, files: self)
            .filter { TakeName.isOwnFile($0) && !notes.contains($0) }.sorted()
    }
}

extension FileError {
    private static let removal = "empty the bin, besides"

    static func putBack(_ path: String) -> FileError { FileError(removal, path, code: EEXIST) }

    private static let comparison = "compare"

    static func differs(_ path: String, _ other: String) -> FileError {
        FileError(comparison, "\(path) and \(other)", code: EEXIST)
    }

    /// Whether a take was not deleted for good because one of its files differs from the one in the folder of its day.
    /// `path` names both.
    public var isDifference: Bool { operation == Self.comparison }

    /// Whether a take was not deleted for good because one of its files is in the folder of its day.
    public var isPutBack: Bool { operation == Self.removal }
}
