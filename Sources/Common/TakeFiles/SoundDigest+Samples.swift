extension SoundDigest {
    /// Adds samples that were read as integers of full scale 2³¹, in the layout of a WAV file with `bytesPerSample`
    /// bytes each.
    mutating func update(_ samples: ArraySlice<Int32>, bytesPerSample: Int) {
        let unused = Int32(32 - 8 * bytesPerSample)
        // Safe: `count` elements are initialised, in order.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: samples.count * bytesPerSample) { buffer, count in
            for sample in samples {
                var rest = sample >> unused
                for _ in 0..<bytesPerSample {
                    // Safe: the capacity includes `bytesPerSample` bytes for each sample.
                    unsafe buffer.initializeElement(at: count, to: UInt8(truncatingIfNeeded: rest))
                    rest >>= 8
                    count += 1
                }
            }
        }
        update(bytes)
    }
}
