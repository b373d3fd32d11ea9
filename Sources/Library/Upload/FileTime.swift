import Glibc
import Takes

/// When a file was last changed, as other programs show it.
enum FileTime {
    /// Sets it: utimensat(2). A file system that has no such time, or not for this user, leaves its own: the content does not depend on it.
    static func set(_ path: String, _ time: WallTime) {
        guard time.secondsOfFile != nil else { return }
        let (seconds, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let modified = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest) * 1000)
        let times = [modified, modified]
        // Safe: the array has the two times that the call reads.
        _ = unsafe utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW)
    }
}
