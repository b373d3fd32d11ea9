public import Takes

/// The ring of a recorder, kept from one opening of its card to the next, so that there are never two.
///
/// An opening in the same format goes on in the same ring: positions and stamps go on, and the `.started` stamp begins another line.
/// Readers of what the opening before left are not disturbed. To be used by one thread at a time.
public final class RingPool {
    private let maximumBytes: Int
    private var kept: Ring?

    /// A pool without a ring yet.
    /// - Parameter memoryBytes: of the machine.
    public init(memoryBytes: Int) {
        maximumBytes = Ring.maximumBytes(ofMemory: memoryBytes)
    }

    /// A ring for another opening of the card. The one before it must have ended: one thread at a time writes to a ring.
    ///
    /// - Returns: nil if a ring of another format is still read; it is free once the last sound of it is written to a file.
    public func ring(format: StreamFormat, holding duration: Duration, periodFrames: Int) -> Ring? {
        let capacity = Ring.capacity(
            format: format, holding: duration, periodFrames: periodFrames, maximumBytes: maximumBytes)
        if let kept, kept.format == format, kept.capacityFrames == capacity,
            kept.maximumWriteFrames == min(Int64(periodFrames), capacity / 2)
        {
            return kept
        }
        guard kept == nil || isKnownUniquelyReferenced(&kept) else { return nil }
        kept = nil
        let ring = Ring(format: format, holding: duration, periodFrames: periodFrames, maximumBytes: maximumBytes)
        kept = ring
        return ring
    }
}
