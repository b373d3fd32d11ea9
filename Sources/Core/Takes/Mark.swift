/// A marker that was requested during a recording.
public struct Mark: Hashable, Sendable {
    public var place: Place
    public var content: Sidecar.Marker.Content
    /// The take that its frames are counted in, or nil for the take that is being recorded.
    public var take: TakeName?

    public enum Place: Hashable, Sendable {
        /// The frame that was sampled at an instant.
        case instant(Instant)
        /// A frame of the take.
        case frame(TakeFrame)
    }

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
