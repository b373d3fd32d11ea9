/// What happens to a take while it is recorded, as its sidecar notes it.
public enum TakeEvent: Sendable, Hashable {
    /// The first frame was sampled at another time than was assumed: by the calendar, and on `CLOCK_MONOTONIC`.
    case started(WallTime, Instant)
    /// A frame was marked.
    case marker(Sidecar.Marker)
    /// Frames were lost, and are silent in the file.
    case gap(at: TakeFrame, frames: Int64, cause: Sidecar.Gap.Cause)
    /// The take ends at a frame, and its card was away from there on.
    case endedWithoutCard(at: TakeFrame)
    /// Another filter is in force from a frame on.
    case filter(Sidecar.FilterChange)
    /// The card has another gain, or automatic gain control, from a frame on.
    case gain(Sidecar.GainChange)
    /// So many frames are from before the press.
    case preRoll(frames: Int64)
    /// One entry of `clock_map`.
    case clock(Sidecar.ClockPoint)
    /// One entry of `suspected_losses`.
    case suspectedLoss(Sidecar.SuspectedLoss)
    /// How much faster than `CLOCK_MONOTONIC_RAW` the card ran, in millionths.
    case drift(ppm: Double)
    /// The calendar was set, or its origin became known: the start and the clock map are dated by it.
    case dated(by: TrueStart)
    /// When the first frame was sampled by a clock that was set later: `started_corrected`.
    case corrected(started: String?)
}
