internal import CLinux
import SoundCard
public import TakeFiles
public import Takes

/// Asks the machine where the calendar comes from: by what this boot saw, never by the year.
public struct ClockProbe: Sendable {
    private let root: String
    private let files: FileSystem

    /// - Parameter root: the folder that `/proc`, `/run` and `/sys` lie in.
    public init(root: String = "", files: FileSystem = FileSystem()) {
        self.root = root
        self.files = files
    }

    /// The kernel's id of this boot; empty if it tells none.
    public var bootID: String { SystemFile.firstLine(root + "/proc/sys/kernel/random/boot_id") ?? "" }

    /// What the kernel says now. It knows whether somebody disciplines its clock (`adjtimex(2)`), and whether it set it from
    /// a battery-backed one (`hctosys` of `rtc(4)`).
    public func evidence(_ clock: any Clock) -> ClockEvidence {
        // First where it stands: whoever sets the date takes back that it is synchronised.
        let offset = clock.offset()
        return ClockEvidence(
            isSynchronised: fieldfare_clock_is_synchronised() != 0,
            isSetFromRTC: SystemFile.firstLine(root + "/sys/class/rtc/rtc0/hctosys") == "1", offset: offset)
    }

    /// What the recorder remembers of this boot; nil: nothing, or it is not for this user to read.
    public var record: ClockRecord? {
        guard let bytes = try? files.contents(recordPath, limit: 256),
            let record = ClockRecord(line: String(decoding: bytes, as: UTF8.self)), record.bootID == bootID
        else { return nil }
        return record
    }

    /// Remembers it for as long as this boot lasts: `/run` does not outlive it, and a record names its boot.
    public func remember(_ record: ClockRecord) throws(FileError) {
        let draft = recordPath + ".tmp"
        try files.write(Array(record.line.utf8), to: files.create(draft, isNew: false), at: 0)
        try files.rename(draft, to: recordPath)
    }

    /// Where the date and time came from, for who does not watch over them.
    public func origin(newestTake: String?, clock: any Clock) -> ClockOrigin {
        let evidence = evidence(clock)
        return ClockRecord.after(evidence, known: record, bootID: bootID)?
            .origin(at: evidence.offset, today: clock.wallTime().date, newestTake: newestTake) ?? .unset
    }

    private var recordPath: String { root + "/run/fieldfare/clock" }
}
