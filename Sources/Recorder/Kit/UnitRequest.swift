import Files
import Glibc

/// A request to a privileged unit: a file that the unit watches, and another file with its result.
///
/// Both are in `/run`, which is in memory, so the recorder's loop may read and write them.
struct UnitRequest {
    private let path: String
    private let files: FileSystem
    private let exists: (String) -> Bool

    /// - Parameters:
    ///   - path: the file that the unit watches.
    ///   - exists: `access(2)` with `F_OK`.
    init(
        path: String, files: FileSystem = FileSystem(),
        exists: @escaping (String) -> Bool = { unsafe access($0, F_OK) == 0 }
    ) {
        self.path = path
        self.files = files
        self.exists = exists
    }

    /// Whether the unit has read it.
    var isTaken: Bool { !exists(path) }

    /// Writes a request under a temporary name and renames it, so that the unit reads it whole. An older result is
    /// removed.
    func write(_ text: String) throws(FileError) {
        let draft = path + ".tmp"
        _ = takeResult()
        try files.write(Array(text.utf8), to: files.create(draft, isNew: false), at: 0)
        try files.rename(draft, to: path)
    }

    /// Removes a request that the unit has not read.
    func withdraw() { try? files.remove(path) }

    /// The unit's result as systemd names it in `$SERVICE_RESULT`, or nil if the unit has not ended.
    func takeResult() -> String? {
        let resultPath = path + ".result"
        guard let bytes = try? files.contents(resultPath, limit: 64) else { return nil }
        try? files.remove(resultPath)
        return String(decoding: bytes.filter { $0 > 0x20 && $0 < 0x7f }, as: UTF8.self)
    }
}
