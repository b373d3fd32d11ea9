extension [UInt8] {
    /// Calls a function with the bytes. Compilers differ in whether `span.bytes` is safe, which it is without padding.
    @inlinable
    public func withRawSpan<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        // Safe: the span cannot outlive the call.
        try unsafe withUnsafeBytes { try unsafe body(RawSpan(_unsafeBytes: $0)) }
    }
}
