/// A marker that is asked for while a take is recorded.
public struct Mark: Hashable, Sendable {
    /// Where it is to be.
    public var place: Place
    /// What it says.
    public var content: Sidecar.Marker.Content
    /// The take in which its frames are counted, or nil for the one that is recorded.
    public var take: TakeName?

    /// Where a marker is to be.
    public enum Place: Hashable, Sendable {
        /// At the frame that was sampled at an instant.
        case instant(Instant)
        /// At a frame of the take.
        case frame(TakeFrame)
    }

    /// A marker at a place of the take that is recorded.
    public init(_ place: Place, _ content: Sidecar.Marker.Content, of take: TakeName? = nil) {
        self.place = place
        self.content = content
        self.take = take
    }

    /// A marker at the frame that was sampled at an instant.
    public init(at instant: Instant, note: String? = nil) {
        self.init(.instant(instant), Sidecar.Marker.Content(note: note))
    }
}
