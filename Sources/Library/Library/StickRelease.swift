import Glibc
import Settings

/// Whether the stick is being unmounted, which fails while a file on it is open. `deploy/systemd/stick` makes a file for
/// that time.
struct StickRelease: Sendable {
    /// The path of that file.
    var mark = "/run/fieldfare-stick.leaving"
    var mountPoint = Settings.Takes.stickMountPoint

    /// Whether a file or a folder is on the stick that is being unmounted. It must not be opened then.
    func concerns(_ path: String) -> Bool {
        guard path.hasPrefix(mountPoint + "/") else { return false }
        return unsafe access(mark, F_OK) == 0
    }
}
