import CFloat

/// Denormal numbers: many processors compute slowly with them.
///
/// `SignalPath` leaves none in its state after silence. This is for other computations of a thread.
public enum Denormals {
    /// From now on this thread treats denormal numbers as zero (MXCSR on x86-64, FPCR on arm64).
    public static func flushToZero() {
        fieldfare_flush_denormals()
    }

    /// Whether this thread treats denormal numbers as zero.
    public static var areFlushed: Bool {
        fieldfare_denormals_are_flushed()
    }
}
