import CLinux
import Glibc

/// Lets root reach files as the owner of a folder does: what is made there then belongs to the owner, who must be able to go
/// on with it, and a link that the owner made leads nowhere that the owner may not go.
enum FolderOwner {
    /// Runs `work` with the owner's rights to files (`setfsuid(2)`), on this thread only; without a change unless this is root.
    static func run<Result>(of folder: String, _ work: () throws(Failure) -> Result) throws(Failure) -> Result {
        var found = stat()
        guard geteuid() == 0, unsafe stat(folder, &found) == 0, found.st_uid != 0 else { return try work() }
        // The group first: only root may change it.
        setfsgid(found.st_gid)
        setfsuid(found.st_uid)
        defer {
            setfsuid(0)
            setfsgid(getegid())
        }
        return try work()
    }
}
