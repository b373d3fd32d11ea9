import Doctor
import SoundCard

/// What the machine says of itself.
enum Machine {
    /// The kernel's id of this boot.
    static var bootID: String { SystemFile.firstLine("/proc/sys/kernel/random/boot_id") ?? "" }
}
