public import Takes

/// The ring of a recorder. It is kept from one opening of the card to the next, so that there are never two rings.
///
/// If a card is opened again in the same format, it uses the same ring: positions and stamps continue, and the
/// `.started` stamp begins another line. Readers of the previous opening are not disturbed. One thread at a time may
/// use the pool.
public final class RingPool {
    private let maximumBytes: Int
    private var kept: Ring?

    /// - Parameter memoryBytes: the memory of the machine.
    public init(memoryBytes: Int) {
        maximumBytes = Ring.maximumBytes(ofMemory: memoryBytes)
    }

    /// Returns a ring for another opening of the card. The previous opening must have ended, because only one thread at
    /// a time may write to a ring.
    /// - Returns: nil while a ring of another format is still read. It becomes free once its last sound is written to a
    ///   file.
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
