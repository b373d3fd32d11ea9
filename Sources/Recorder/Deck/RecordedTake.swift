import Live
import Recording
import Takes
import Transport

/// A take, from the order that begins it until its files are taken over. If the take may then still continue with the
/// sound after it, until that sound is dropped.
struct RecordedTake {
    /// The folder for takes with this take.
    let folder: String
    /// The last initiator.
    var initiator: TakeInitiator
    /// The writer's last report, or nil before the first one.
    var report: (progress: RecordingProgress, at: Instant)?
    /// The markers given to the writer.
    var markersGiven = 0
    var date = DateNews.unchanged
    /// The position in the ring of the take or, until its own is known, of the take before it. Nil if neither is known.
    var live: LiveTake?

    /// Whether the date was set during the take.
    enum DateNews { case unchanged, set }

    var markers: Int { max(markersGiven, report?.progress.markers ?? 0) }
}

extension Deck {
    /// The progress of the take in progress, or nil while the writer has reported none.
    var progress: RecordingProgress? { recorded?.report?.progress }

    /// The folder for takes with the take in progress.
    var recordedIn: String { recorded?.folder ?? storage.path }
}
