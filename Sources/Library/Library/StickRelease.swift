import Glibc
import Settings

/// Whether the stick is being unmounted, which fails while a file on it is open. `deploy/systemd/stick` locks a file for
/// that time. The kernel unlocks it when the script ends, also when it is killed.
struct StickRelease: Sendable {
    /// The path of that file.
    var mark = "/run/fieldfare-stick.leaving"
    var mountPoint = Settings.Takes.stickMountPoint

    /// Whether a file or a folder is on the stick that is being unmounted. It must not be opened then.
    func concerns(_ path: String) -> Bool {
        guard path.hasPrefix(mountPoint + "/") else { return false }
        let file = unsafe open(mark, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        // Shared, because several threads ask.
        guard flock(file, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
        // A child process that is being forked holds a copy of the descriptor, and with it the lock.
        flock(file, LOCK_UN)
        return false
    }
}
