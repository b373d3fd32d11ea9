import Doctor

/// What the machine says of itself.
enum Machine {
    /// The kernel's id of this boot.
    static var bootID: String { SystemText.firstLine(of: "/proc/sys/kernel/random/boot_id") ?? "" }
}
