internal import CLinux
import Files
import Glibc
import SoundCard

struct Rights: Equatable {
    /// A device file of sound or GPIO.
    struct Node: Equatable {
        var path: String
        var isUsable: Bool
        /// The group that may use it, or nil if only root may.
        var group: String?
    }

    var user: String
    var groups: [String]
    var nodes: [Node]
    /// A sentence for each missing right that the capture thread needs to be in time.
    var missing: [String]
    /// The scheduling policy of the capture thread, or nil if it does not run.
    var capturePolicy: Int32?
    /// The highest real-time priority that may be requested.
    var realTimeLimit: Int
    /// How many bytes may be locked in memory, or nil for any number.
    var lockLimit: Int?

    static func ofThisProcess() -> Rights {
        Rights(
            user: name(ofUser: geteuid()), groups: groups(), nodes: nodes(), missing: RealTime.warnings,
            capturePolicy: capturePolicy(), realTimeLimit: limit(__RLIMIT_RTPRIO) ?? 99,
            lockLimit: limit(__RLIMIT_MEMLOCK))
    }

    private static func nodes() -> [Node] {
        let sound = SystemFile.names(in: "/dev/snd").filter { $0.hasPrefix("pcm") || $0.hasPrefix("control") }
        let chips = SystemFile.names(in: "/dev").filter { $0.hasPrefix("gpiochip") }
        return (sound.map { "/dev/snd/\($0)" } + chips.map { "/dev/\($0)" }).map { path in
            var found = stat()
            let isShared = unsafe stat(path, &found) == 0 && found.st_gid != 0 && found.st_mode & 0o060 == 0o060
            let isUsable = unsafe faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0
            return Node(path: path, isUsable: isUsable, group: isShared ? name(ofGroup: found.st_gid) : nil)
        }
    }

    private static func groups() -> [String] {
        var ids = [gid_t](repeating: 0, count: 256)
        let count = unsafe getgroups(Int32(ids.count), &ids)
        return Set(ids.prefix(Int(max(0, count))) + [getegid()]).sorted().map(name(ofGroup:))
    }

    /// Finds the thread by the name that `CaptureCard` gives it.
    private static func capturePolicy() -> Int32? {
        let tasks = "/proc/self/task"
        let thread = SystemFile.names(in: tasks).first { SystemFile.firstLine("\(tasks)/\($0)/comm") == "capture" }
        return thread.flatMap { pid_t($0) }.map { sched_getscheduler($0) }
    }

    private static func limit(_ resource: __rlimit_resource) -> Int? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur < UInt64(Int.max)
        else { return nil }
        return Int(limit.rlim_cur)
    }

    private static func name(ofUser id: uid_t) -> String {
        // Safe: the entry is copied at once, and no other thread of the process calls this function.
        guard let entry = unsafe getpwuid(id) else { return "\(id)" }
        return unsafe String(cString: entry.pointee.pw_name)
    }

    private static func name(ofGroup id: gid_t) -> String {
        // Safe: as above.
        guard let entry = unsafe getgrgid(id) else { return "\(id)" }
        return unsafe String(cString: entry.pointee.gr_name)
    }
}
