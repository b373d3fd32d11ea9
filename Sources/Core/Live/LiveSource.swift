public import Filters
public import Ring

/// The live sound of the capture card, and the filter in force.
public struct LiveSource: Sendable {
    /// The ring with the frames.
    public var ring: Ring
    /// The filter, for the rate of the ring.
    public var design: FilterDesign

    public init(ring: Ring, design: FilterDesign) {
        self.ring = ring
        self.design = design
    }
}

extension LiveSource: Equatable {
    /// Compares the rings by identity.
    public static func == (one: LiveSource, other: LiveSource) -> Bool {
        one.ring === other.ring && one.design == other.design
    }
}
