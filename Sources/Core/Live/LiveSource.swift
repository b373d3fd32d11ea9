public import Filters
public import Ring

/// What the capture card delivers now, and the filter that is in force.
public struct LiveSource: Sendable {
    /// Where the frames are.
    public var ring: Ring
    /// The filter, for the rate of the ring.
    public var design: FilterDesign

    /// The sound of an open card.
    public init(ring: Ring, design: FilterDesign) {
        self.ring = ring
        self.design = design
    }
}

extension LiveSource: Equatable {
    /// Whether both are the same ring, with the same filter.
    public static func == (one: LiveSource, other: LiveSource) -> Bool {
        one.ring === other.ring && one.design == other.design
    }
}
