/// When takes of this boot really began, by the calendar as it stands now.
///
/// That is where their `started_corrected` comes from: `CLOCK_MONOTONIC` was noted when they began, and no setting of the date
/// moves it. Takes of other boots have another such clock, and are left as they are.
public struct TrueStart: Hashable, Sendable {
    /// The kernel's id of this boot.
    public var bootID: String
    /// Where the calendar stands.
    public var offset: ClockOffset
    /// Where its date comes from.
    public var origin: ClockOrigin

    /// The calendar of a boot as it stands.
    public init(bootID: String, offset: ClockOffset, origin: ClockOrigin) {
        self.bootID = bootID
        self.offset = offset
        self.origin = origin
    }

    /// What differs by less is the same: a person sets the date to a second, services step by more (128 ms and up).
    public static let tolerance = Duration.milliseconds(100)

    /// Whether a take's monotonic time is of this boot.
    public func covers(_ sidecar: Sidecar) -> Bool {
        !bootID.isEmpty && sidecar.bootID == bootID
    }

    /// What the take's `started_corrected` is to be: ISO 8601, UTC, microseconds; nil if `started` needs no correction.
    ///
    /// A start that was written while the clock was not set is written again once it is, even if it was right by chance: until
    /// then it could not be relied on. A correction that is still right stays as it is. A calendar of unknown origin corrects nothing.
    public func corrected(_ sidecar: Sidecar) -> String? {
        guard origin != .unset, covers(sidecar) else { return sidecar.startedCorrected }
        let truth = offset.wallTime(at: Instant(nanoseconds: sidecar.startedMonotonicNs))
        func isRight(_ text: String) -> Bool {
            guard let written = WallTime(iso8601: text) else { return false }
            return ClockOffset(microseconds: written.microseconds)
                .distance(to: ClockOffset(microseconds: truth.microseconds)) < Self.tolerance
        }
        if let known = sidecar.startedCorrected, isRight(known) { return known }
        if isRight(sidecar.started), sidecar.clock != .unset { return nil }
        return truth.iso8601
    }
}
