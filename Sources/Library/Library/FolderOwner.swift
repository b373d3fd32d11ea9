import Glibc

/// The user that the library's folder belongs to: root works as that user, who must be able to change all that is made there.
struct FolderOwner: Equatable {
    var user: uid_t
    var group: gid_t

    /// - Parameter user: who asks. A process of another user than root keeps its user.
    /// - Returns: nil if the process is to keep its user.
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

    /// Makes the process one of that user, with all of the user's groups: one of them may read takes.
    func become(_ calls: IdentityCalls = IdentityCalls()) throws(LibraryError) {
        guard calls.setGroups(user, group) == 0, calls.setGroup(group) == 0, calls.setUser(user) == 0 else {
            throw LibraryError("become user \(user)", errno, "start it as the library's user")
        }
    }
}

/// The calls that change whose process this is, one door each. They return what the system returns and leave the code in `errno`.
struct IdentityCalls {
    var setGroups: (uid_t, gid_t) -> Int32 = { user, group in
        // Safe: the entry is used before this thread looks for another one.
        guard let entry = unsafe getpwuid(user) else { return setgroups(0, nil) }
        return unsafe initgroups(entry.pointee.pw_name, group)
    }
    var setGroup: (gid_t) -> Int32 = { setgid($0) }
    var setUser: (uid_t) -> Int32 = { setuid($0) }
}
