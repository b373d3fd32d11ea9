import CLinux
import Glibc

/// Lets root access files with the rights of a folder's owner. New files then belong to the owner, who must be able to
/// use them later, and a link that the owner made cannot lead where the owner may not go.
enum FolderOwner {
    /// Runs `work` with the owner's file system rights (`setfsuid(2)`), on this thread only. Unless this is root,
    /// `work` runs unchanged.
    static func run<Result>(of folder: String, _ work: () throws(Failure) -> Result) throws(Failure) -> Result {
        var found = stat()
        guard geteuid() == 0, unsafe stat(folder, &found) == 0, found.st_uid != 0 else { return try work() }
        // The group comes first, because only root may change it.
        setfsgid(found.st_gid)
        setfsuid(found.st_uid)
        defer {
            setfsuid(0)
            setfsgid(getegid())
        }
        return try work()
    }
}
