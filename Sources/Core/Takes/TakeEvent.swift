/// An event of a recording, for its sidecar.
public enum TakeEvent: Sendable, Hashable {
    /// The first frame was sampled at another time than assumed. The values are the calendar time and the time on
    /// `CLOCK_MONOTONIC`.
    case started(WallTime, Instant)
    case marker(Sidecar.Marker)
    /// Frames were lost, and are silent in the file.
    case gap(at: TakeFrame, frames: Int64, cause: Sidecar.Gap.Cause)
    /// The take ends at a frame, from which on its card was disconnected.
    case endedWithoutCard(at: TakeFrame)
    case filter(Sidecar.FilterChange)
    /// The gain or the automatic gain control of the card changed.
    case gain(Sidecar.GainChange)
    /// The number of frames from before the button was pressed.
    case preRoll(frames: Int64)
    /// An entry of `clock_map`.
    case clock(Sidecar.ClockPoint)
    /// An entry of `suspected_losses`.
    case suspectedLoss(Sidecar.SuspectedLoss)
    /// How much faster than `CLOCK_MONOTONIC_RAW` the card ran, in millionths.
    case drift(ppm: Double)
    /// The calendar was set, or its origin became known. The start and the clock map get new dates.
    case dated(by: TrueStart)
    /// The sampling time of the first frame by a clock that was set later: `started_corrected`.
    case corrected(started: String?)
}
