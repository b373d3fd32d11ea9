import Files
import Glibc

enum Machine {
    static var bootID: String { SystemFile.firstLine("/proc/sys/kernel/random/boot_id") ?? "" }

    /// The folder of the kit's own state, which survives a change of the takes' storage: the one that systemd made for
    /// the unit, otherwise that of an installed kit, or nil if neither exists.
    static var stateFolder: String? {
        if let folders = unsafe getenv("STATE_DIRECTORY") {
            return unsafe String(cString: folders).split(separator: ":").first.map(String.init)
        }
        let usual = "/var/lib/fieldfare"
        return unsafe access(usual, F_OK) == 0 ? usual : nil
    }
}
