internal import CLinux
public import Files
public import Takes

/// Finds the origin of the date and time from events in this boot, and never from the year.
///
/// It reads a few attributes in `/proc` and `/sys` that the kernel keeps in memory, and a file in `/run`, which is also
/// in memory. None of these reads waits for a device, so the recorder's loop may call it.
public struct ClockProbe: Sendable {
    private let root: String
    private let files: FileSystem

    /// - Parameter root: the folder that contains `/proc`, `/run` and `/sys`.
    public init(root: String = "", files: FileSystem = FileSystem()) {
        self.root = root
        self.files = files
    }

    /// The kernel's id of this boot, or empty if it cannot be read.
    public var bootID: String { SystemFile.firstLine(root + "/proc/sys/kernel/random/boot_id") ?? "" }

    /// The kernel's present knowledge: whether a program synchronises its clock (`adjtimex(2)`), and whether it was set
    /// from a battery-backed clock (`hctosys` of `rtc(4)`).
    public func evidence(_ clock: any Clock) -> ClockEvidence {
        // The offset must be read first, because a program that sets the date also resets the synchronisation flag.
        let offset = clock.offset()
        return ClockEvidence(
            isSynchronised: fieldfare_clock_is_synchronised() != 0,
            isSetFromRTC: SystemFile.firstLine(root + "/sys/class/rtc/rtc0/hctosys") == "1", offset: offset)
    }

    /// The recorder's stored record of this boot, or nil if it does not exist or this user may not read it.
    public var record: ClockRecord? {
        guard let bytes = try? files.contents(recordPath, limit: 256),
            let record = ClockRecord(line: String(decoding: bytes, as: UTF8.self)), record.bootID == bootID
        else { return nil }
        return record
    }

    /// Stores the record for this boot. `/run` is empty after the next boot, and a record also contains its boot's id.
    public func remember(_ record: ClockRecord) throws(FileError) {
        let draft = recordPath + ".tmp"
        try files.write(Array(record.line.utf8), to: files.create(draft, isNew: false), at: 0)
        try files.rename(draft, to: recordPath)
    }

    /// The origin of the date and time, for a process that has not watched the clock.
    public func origin(newestTake: String?, clock: any Clock) -> ClockOrigin {
        let evidence = evidence(clock)
        return ClockRecord.after(evidence, known: record, bootID: bootID)?
            .origin(at: evidence.offset, today: clock.wallTime().latestDate, newestTake: newestTake) ?? .unset
    }

    private var recordPath: String { root + "/run/fieldfare/clock" }
}
