import Takes

/// The instant `milliseconds` after a zero that differs from the clock's own.
func at(_ milliseconds: Double) -> Instant {
    Instant(nanoseconds: 5_000_000_000_000 + Int64(milliseconds * 1e6))
}
