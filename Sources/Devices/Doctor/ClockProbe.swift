internal import CLinux
import SoundCard
public import TakeFiles
public import Takes

/// Finds out where the date and time come from, by what happened in this boot, never by the year.
///
/// It reads a few attributes in `/proc` and `/sys` that the kernel has in memory, and a file in `/run`, which is in memory too. None
/// of these waits for a device, so the recorder's loop may use it.
public struct ClockProbe: Sendable {
    private let root: String
    private let files: FileSystem

    /// - Parameter root: the folder that `/proc`, `/run` and `/sys` lie in.
    public init(root: String = "", files: FileSystem = FileSystem()) {
        self.root = root
        self.files = files
    }

    /// The kernel's id of this boot; empty if it cannot be read.
    public var bootID: String { SystemFile.firstLine(root + "/proc/sys/kernel/random/boot_id") ?? "" }

    /// What the kernel knows now: whether a program synchronises its clock (`adjtimex(2)`), and whether it was set from a
    /// battery-backed clock (`hctosys` of `rtc(4)`).
    public func evidence(_ clock: any Clock) -> ClockEvidence {
        // The offset first: a program that sets the date resets the flag of synchronisation with it.
        let offset = clock.offset()
        return ClockEvidence(
            isSynchronised: fieldfare_clock_is_synchronised() != 0,
            isSetFromRTC: SystemFile.firstLine(root + "/sys/class/rtc/rtc0/hctosys") == "1", offset: offset)
    }

    /// What the recorder remembers of this boot; nil: nothing, or this user may not read it.
    public var record: ClockRecord? {
        guard let bytes = try? files.contents(recordPath, limit: 256),
            let record = ClockRecord(line: String(decoding: bytes, as: UTF8.self)), record.bootID == bootID
        else { return nil }
        return record
    }

    /// Remembers it for this boot: `/run` is empty after the next one, and a record names its boot.
    public func remember(_ record: ClockRecord) throws(FileError) {
        let draft = recordPath + ".tmp"
        try files.write(Array(record.line.utf8), to: files.create(draft, isNew: false), at: 0)
        try files.rename(draft, to: recordPath)
    }

    /// Where the date and time came from, for a process that has not watched them.
    public func origin(newestTake: String?, clock: any Clock) -> ClockOrigin {
        let evidence = evidence(clock)
        return ClockRecord.after(evidence, known: record, bootID: bootID)?
            .origin(at: evidence.offset, today: clock.wallTime().latestDate, newestTake: newestTake) ?? .unset
    }

    private var recordPath: String { root + "/run/fieldfare/clock" }
}
