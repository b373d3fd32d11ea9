import Glibc
import SoundCard

/// Facts about this machine.
enum Machine {
    /// The kernel's id of this boot.
    static var bootID: String { SystemFile.firstLine("/proc/sys/kernel/random/boot_id") ?? "" }

    /// The folder of the kit's own state, which outlives any storage of takes: the one that systemd made for the unit, or else the one
    /// that an installed kit has; nil: there is none.
    static var stateFolder: String? {
        if let folders = unsafe getenv("STATE_DIRECTORY") {
            return unsafe String(cString: folders).split(separator: ":").first.map(String.init)
        }
        let usual = "/var/lib/fieldfare"
        return unsafe access(usual, F_OK) == 0 ? usual : nil
    }
}
