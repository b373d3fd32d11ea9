internal import CLinux
import SoundCard
public import Takes

/// Judges where the calendar comes from, by what this boot saw; never by the year.
public struct ClockProbe: Sendable {
    private let root: String

    /// - Parameter root: the folder that `/sys` lies in.
    public init(root: String = "") {
        self.root = root
    }

    /// Where the date and time came from.
    ///
    /// The kernel knows whether somebody disciplines its clock (`adjtimex(2)`), and whether it set the clock from a
    /// battery-backed one at boot (`hctosys` of `rtc(4)`). Such a clock is believed while it is not behind the newest
    /// take: one with an empty battery starts over.
    public func origin(newestTake: String?, clock: any Clock) -> ClockOrigin {
        Self.origin(
            isSynchronised: isSynchronised,
            isSetFromRTC: SystemFile.firstLine(root + "/sys/class/rtc/rtc0/hctosys") == "1",
            today: clock.wallTime().date, newestTake: newestTake)
    }

    static func origin(isSynchronised: Bool, isSetFromRTC: Bool, today: String, newestTake: String?) -> ClockOrigin {
        if isSynchronised { return .ntp }
        if isSetFromRTC, newestTake.map({ $0 <= today }) ?? true { return .rtc }
        return .unset
    }

    private var isSynchronised: Bool { fieldfare_clock_is_synchronised() != 0 }
}
