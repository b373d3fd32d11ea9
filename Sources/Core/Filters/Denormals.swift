import CFloat

/// Numbers so small that many processors compute with them slowly.
///
/// `SignalPath` leaves none in its state after silence. This is for what else a thread computes.
public enum Denormals {
    /// From now on this thread treats them as zero (MXCSR on x86-64, FPCR on arm64).
    public static func flushToZero() {
        fieldfare_flush_denormals()
    }

    /// Whether this thread treats them as zero.
    public static var areFlushed: Bool {
        fieldfare_denormals_are_flushed()
    }
}
