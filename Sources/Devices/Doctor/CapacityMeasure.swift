/// The result of reading the sentinels that were written across a storage.
package struct CapacityMeasure: Equatable, Sendable {
    /// A sentinel that could not be read back.
    struct Wrong: Equatable, Sendable {
        /// Where it was written on the disk, in bytes.
        var place: Int64
        var found: Found

        enum Found: Equatable, Sendable {
            /// A sentinel that was written at another place of the disk, in bytes.
            case another(place: Int64)
            case lost
            /// The storage reported an error of `errno(3)`.
            case unreadable(code: Int32)
        }
    }

    /// How the file of the sentinels got its length.
    enum Filling: String, Sendable {
        /// The file system allocated blocks, and only the blocks of sentinels were written.
        case allocated
        /// The file system can only extend the file by writing, so all blocks were written until the time limit.
        case written
    }

    enum Reading: String, Sendable {
        /// Without the kernel's cache (`O_DIRECT`).
        case direct
        /// After a request to the kernel to drop its cached pages.
        case uncached
    }

    /// The size that the disk reports.
    var diskByteCount: Int64
    /// The free space for the test.
    var wantedByteCount: Int64
    /// How much of the free space was covered.
    var coveredByteCount: Int64
    /// The number of sentinels that were read.
    var count: Int
    /// The distance between the sentinels of the grid, in bytes.
    var step: Int64
    var filling: Filling
    var reading: Reading
    /// In the order of the disk. Sentinels that were written to find a shorter period come last.
    var wrong: [Wrong]
    /// Where the highest sentinel was written on the disk, in bytes.
    var highestPlace: Int64
    var duration: Duration

    /// The real capacity of the disk in bytes, or nil if no sentinel was wrong.
    ///
    /// If two sentinels share a place, their distance is the period, which is the real capacity. Otherwise the capacity
    /// ends at the first lost sentinel.
    var realByteCount: Int64? {
        let periods = wrong.compactMap { wrong -> Int64? in
            if case .another(let place) = wrong.found { return (place - wrong.place).magnitudeAsSigned }
            return nil
        }
        return periods.min() ?? wrong.map(\.place).min()
    }

    /// Whether data written at one place appeared at another.
    var repeats: Bool {
        wrong.contains { if case .another = $0.found { true } else { false } }
    }

    /// Whether no sentinel from the first wrong one on could be read back.
    var endsThere: Bool = false
}

extension Int64 {
    fileprivate var magnitudeAsSigned: Int64 { Int64(clamping: magnitude) }
}
