import Glibc
import Takes

/// The modification time of a file.
enum FileTime {
    /// Sets the time with utimensat(2). Errors are ignored, because the content does not depend on the time.
    static func set(_ path: String, _ time: WallTime) {
        guard time.secondsOfFile != nil else { return }
        let (seconds, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let modified = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest) * 1000)
        let times = [modified, modified]
        // Safe: the array has the two times that the call reads.
        _ = unsafe utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW)
    }
}
