import Glibc

/// The owner and the mode of the folder of takes.
struct FolderRights: Equatable {
    /// Whether this process's user owns it.
    var isOwn: Bool
    var owner: String
    /// The permission bits of `stat(2)`, without the type.
    var mode: UInt32

    init(isOwn: Bool, owner: String, mode: UInt32) {
        self.isOwn = isOwn
        self.owner = owner
        self.mode = mode
    }

    /// Fails if `path` is not a folder.
    init?(of path: String) {
        var found = stat()
        guard unsafe stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFDIR else { return nil }
        // Safe: the entry is copied at once.
        let entry = unsafe getpwuid(found.st_uid)
        owner = unsafe entry.map { unsafe String(cString: $0.pointee.pw_name) } ?? "\(found.st_uid)"
        isOwn = found.st_uid == geteuid()
        mode = found.st_mode & 0o7777
    }
}
