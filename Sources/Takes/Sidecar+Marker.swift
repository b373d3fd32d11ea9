extension Sidecar {
    /// A place that a person marked.
    public struct Marker: Codable, Hashable, Sendable {
        /// The frame of the take that was sampled when the button was pressed.
        public var atFrame: TakeFrame
        /// What the person wrote; null for a button.
        @ExplicitNull public var note: String?

        /// A marker at a frame of the take.
        public init(atFrame: TakeFrame, note: String?) {
            self.atFrame = atFrame
            self.note = note
        }

        enum CodingKeys: String, CodingKey {
            case note
            case atFrame = "at_frame"
        }
    }
}
