/// The true start of takes of this boot, by the calendar as it stands now.
///
/// It is the source of `started_corrected`. A take notes `CLOCK_MONOTONIC` at its start, which setting the date does
/// not change. Takes of other boots have another such clock, and are left unchanged.
public struct TrueStart: Hashable, Sendable {
    public var bootID: String
    public var offset: ClockOffset
    public var origin: ClockOrigin

    public init(bootID: String, offset: ClockOffset, origin: ClockOrigin) {
        self.bootID = bootID
        self.offset = offset
        self.origin = origin
    }

    /// Times that differ by less are treated as equal. A person sets the date to a second, and time services step by
    /// more (128 ms and up).
    public static let tolerance = Duration.milliseconds(100)

    /// Whether the take was recorded in this boot.
    public func covers(_ sidecar: Sidecar) -> Bool {
        !bootID.isEmpty && sidecar.bootID == bootID
    }

    /// The value for the take's `started_corrected`: ISO 8601, UTC, microseconds; nil if `started` needs no correction.
    ///
    /// A start that was written while the clock was not set is corrected even if it was right by chance, because it was
    /// not reliable. A correction that is still right is kept. A calendar of unknown origin corrects nothing.
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
