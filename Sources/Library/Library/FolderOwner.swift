import Glibc

/// The user that owns the library's folder. Root becomes this user, so that this user can change every file made there.
struct FolderOwner: Equatable {
    var user: uid_t
    var group: gid_t

    /// - Parameter user: the user of this process. Only root changes its user.
    /// - Returns: nil if the process keeps its user.
    init?(of directory: String, user: uid_t) {
        var folder = stat()
        guard user == 0, unsafe stat(directory, &folder) == 0, folder.st_uid != 0 else { return nil }
        self.user = folder.st_uid
        group = folder.st_gid
    }

    init(user: uid_t, group: gid_t) {
        self.user = user
        self.group = group
    }

    /// Changes the process to this user with all of the user's groups. One of these groups may read takes.
    func become(_ calls: IdentityCalls = IdentityCalls()) throws(LibraryError) {
        guard calls.setGroups(user, group) == 0, calls.setGroup(group) == 0, calls.setUser(user) == 0 else {
            throw LibraryError("become user \(user)", errno, "start it as the library's user")
        }
    }
}

/// The calls that change the user of this process, one function each. They return what the system returns and leave the
/// code in `errno`.
struct IdentityCalls {
    var setGroups: (uid_t, gid_t) -> Int32 = { user, group in
        // Safe: the entry is used before this thread looks for another one.
        guard let entry = unsafe getpwuid(user) else { return setgroups(0, nil) }
        return unsafe initgroups(entry.pointee.pw_name, group)
    }
    var setGroup: (gid_t) -> Int32 = { setgid($0) }
    var setUser: (uid_t) -> Int32 = { setuid($0) }
}
