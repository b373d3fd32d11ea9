import Files

/// A file in the library's folder that exists while the outbox is paused by a person. It survives a restart and a new
/// catalog.
struct PauseMark: Sendable {
    private let directory: String
    private let files = FileSystem()

    init(in directory: String) { self.directory = directory }

    private var path: String { "\(directory)/paused" }

    var isSet: Bool { (try? files.attributes(path)) != nil }

    func set(_ isPaused: Bool) throws(FileError) {
        if isPaused { try files.sync(try files.create(path, isNew: false)) } else { try files.remove(path) }
        try files.syncFolder(try files.openFolder(directory))
    }
}
