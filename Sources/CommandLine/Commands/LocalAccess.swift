public import Control
public import Doctor
import Glibc
import History
public import Panel
import SoundCard
public import Takes

/// What the command line learns from this machine without the recorder: its settings, and, while the recorder is
/// down, its cards and lines.
public struct LocalAccess: Sendable {
    /// Where things are, as the settings say.
    public struct Places: Hashable, Sendable {
        /// The recorder's control socket.
        public var recorderSocket = "/run/fieldfare/recorder.sock"
        /// The library's control socket.
        public var librarySocket = "/run/fieldfare-library/library.sock"
        /// The directory of takes.
        public var takes = "/var/lib/fieldfare/takes"

        /// The places of a kit without settings.
        public init() {}
    }

    /// Reads the places from a settings file; nil: from the usual one, if there is one.
    public var places: @Sendable (_ file: String?) throws(Failure) -> Places
    /// All that is wrong with a settings file, one sentence each; nil: the usual one.
    public var problems: @Sendable (_ file: String?) throws(Failure) -> [String]
    /// Compares the pre-roll that a settings file asks for with this machine's memory. Returns the shortage as a sentence; or nil if
    /// there is none, or if neither `open` (what the recorder opened) nor the settings have the card's format.
    public var preRollShortage: @Sendable (_ file: String?, _ open: StreamFormat?) -> String? = { _, _ in nil }
    /// The warning about the kit's name in a settings file, as a sentence, or nil if the name needs none.
    public var kitNameWarning: @Sendable (_ file: String?) -> String? = { _ in nil }
    /// Why stores of a settings file must not have the secrets in their files, a sentence each.
    public var misplacedSecrets: @Sendable (_ file: String?) -> [String] = { _ in [] }
    /// Whether there is such a file.
    public var isThere: @Sendable (_ file: String) -> Bool = { file in unsafe access(file, F_OK) == 0 }
    /// The folder of the kit's history.
    public var history = HistoryFolder.usualPath
    /// The folder of the kernel's files about devices.
    var kernelFiles = "/sys"
    /// The kernel's `boot_id`.
    public var bootID: @Sendable () -> String = { SystemFile.firstLine("/proc/sys/kernel/random/boot_id") ?? "" }
    /// Lists what the recorder would list, if it were up.
    public var list: @Sendable (_ inventory: Inventory, _ settings: String?) throws(Failure) -> [JSONValue]

    /// Lets this process run, and reach the disk, when no other wants to: a recording has precedence.
    public var useIdlePriority: @Sendable () -> Void = {}
    /// The same for the disk alone: what must end within a time may not wait for a processor that is always busy.
    public var leaveDisk: @Sendable () -> Void = {}
    /// Checks the kit while the recorder is down.
    public var doctor: @Sendable (_ settings: String?) throws(Failure) -> [Finding]
    /// Finds programs that take cards, which the recorder cannot see from its sandbox.
    public var programs: @Sendable () -> Finding
    /// Lights each lamp in turn while the recorder is down, and reports each while it is lit, or why it is not.
    public var lightLamps:
        @Sendable (
            _ settings: String?, _ isLit: (_ lamp: Lamp, _ failure: String?) throws(Failure) -> Void
        ) throws(Failure) -> Void

    /// What the acceptance of a kit needs.
    package var acceptance = AcceptanceAccess()

    /// Access through these functions.
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
