public import Control
public import Doctor
import Files
import Glibc
import History
public import Panel
public import Takes

/// Access to this machine without the recorder: its settings, and, while the recorder is not running, its cards and
/// lines.
public struct LocalAccess: Sendable {
    /// The paths from the settings.
    public struct Places: Hashable, Sendable {
        public var recorderSocket = "/run/fieldfare/recorder.sock"
        public var librarySocket = "/run/fieldfare-library/library.sock"
        public var takes = "/var/lib/fieldfare/takes"

        /// The paths of a kit without settings.
        public init() {}
    }

    /// Reads the paths from a settings file, or from the usual one, which may be missing, if nil.
    public var places: @Sendable (_ file: String?) throws(Failure) -> Places
    /// The problems of a settings file, one sentence each. Nil means the usual file.
    public var problems: @Sendable (_ file: String?) throws(Failure) -> [String]
    /// Compares the pre-roll of a settings file with this machine's memory. Returns the shortage as a sentence. Returns
    /// nil if the memory suffices, or if neither `open` (the format that the recorder opened) nor the settings give the
    /// card's format.
    public var preRollShortage: @Sendable (_ file: String?, _ open: StreamFormat?) -> String? = { _, _ in nil }
    /// The warning about the kit's name in a settings file, as a sentence, or nil.
    public var kitNameWarning: @Sendable (_ file: String?) -> String? = { _ in nil }
    /// For each store of a settings file that must not get its secret, a sentence with the reason.
    public var misplacedSecrets: @Sendable (_ file: String?) -> [String] = { _ in [] }
    public var isThere: @Sendable (_ file: String) -> Bool = { file in unsafe access(file, F_OK) == 0 }
    /// The folder of the kit's history.
    public var history = HistoryFolder.usualPath
    /// The folder of the kernel's device files.
    var kernelFiles = "/sys"
    /// The kernel's `boot_id`.
    public var bootID: @Sendable () -> String = { SystemFile.firstLine("/proc/sys/kernel/random/boot_id") ?? "" }
    /// Makes the lists that the recorder would make if it were running.
    public var list: @Sendable (_ inventory: Inventory, _ settings: String?) throws(Failure) -> [JSONValue]

    /// Gives this process idle priority for processor and disk, because a recording comes first.
    public var useIdlePriority: @Sendable () -> Void = {}
    /// Gives this process idle priority for the disk only. A command with a time limit cannot wait for an idle
    /// processor.
    public var leaveDisk: @Sendable () -> Void = {}
    /// Checks the kit while the recorder is not running.
    public var doctor: @Sendable (_ settings: String?) throws(Failure) -> [Finding]
    /// Finds programs that use cards. The recorder cannot see them from its sandbox.
    public var programs: @Sendable () -> Finding
    /// Lights each lamp in turn while the recorder is not running. Reports each lamp while it is lit, or why it is not.
    public var lightLamps:
        @Sendable (
            _ settings: String?, _ isLit: (_ lamp: Lamp, _ failure: String?) throws(Failure) -> Void
        ) throws(Failure) -> Void

    package var acceptance = AcceptanceAccess()

    public init(
        places: @escaping @Sendable (_ file: String?) throws(Failure) -> Places,
        problems: @escaping @Sendable (_ file: String?) throws(Failure) -> [String],
        list: @escaping @Sendable (_ inventory: Inventory, _ settings: String?) throws(Failure) -> [JSONValue],
        doctor: @escaping @Sendable (_ settings: String?) throws(Failure) -> [Finding] = { _ in [] },
        programs: @escaping @Sendable () -> Finding = { .ok(.programs, "none") },
        lightLamps:
            @escaping @Sendable (
                _ settings: String?, _ isLit: (_ lamp: Lamp, _ failure: String?) throws(Failure) -> Void
            ) throws(Failure) -> Void = { _, _ in }
    ) {
        self.places = places
        self.problems = problems
        self.list = list
        self.doctor = doctor
        self.programs = programs
        self.lightLamps = lightLamps
    }
}
