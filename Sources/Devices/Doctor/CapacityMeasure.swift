/// What came back of the sentinels that were written across a storage.
package struct CapacityMeasure: Equatable, Sendable {
    /// A sentinel that did not come back.
    struct Wrong: Equatable, Sendable {
        /// Where it was written on the disk, in bytes.
        var place: Int64
        var found: Found

        enum Found: Equatable, Sendable {
            /// One is there that was written at another place of the disk, in bytes.
            case another(place: Int64)
            case lost
            /// The storage reports an error, `errno(3)`.
            case unreadable(code: Int32)
        }
    }

    /// How the file that the sentinels are in came to its length.
    enum Filling: String, Sendable {
        /// The file system gave it blocks that are written only where a sentinel is.
        case allocated
        /// The file system can only write all of it, and did so for as long as there was time.
        case written
    }

    /// How the sentinels were read.
    enum Reading: String, Sendable {
        /// Past the kernel's cache (`O_DIRECT`).
        case direct
        /// After the kernel was asked to drop what it had of them.
        case uncached
    }

    /// How large the disk says it is, in bytes.
    var diskByteCount: Int64
    /// How much of it was free for the test, in bytes.
    var wantedByteCount: Int64
    /// How much of that was covered, in bytes.
    var coveredByteCount: Int64
    /// How many sentinels were read.
    var count: Int
    /// The distance between those that lie regularly, in bytes.
    var step: Int64
    var filling: Filling
    var reading: Reading
    /// In the order of the disk, those that were tried for a closer look last.
    var wrong: [Wrong]
    /// Where the highest sentinel was written on the disk, in bytes.
    var highestPlace: Int64
    var duration: Duration

    /// How much of the disk is real, in bytes; nil: as much as was covered.
    ///
    /// Two sentinels in one place lie a period apart, which is what the card has; else it ends where the first one is lost.
    var realByteCount: Int64? {
        let periods = wrong.compactMap { wrong -> Int64? in
            if case .another(let place) = wrong.found { return (place - wrong.place).magnitudeAsSigned }
            return nil
        }
        return periods.min() ?? wrong.map(\.place).min()
    }

    /// Whether what was written in one place came up in another.
    var repeats: Bool {
        wrong.contains { if case .another = $0.found { true } else { false } }
    }

    /// Whether nothing of what was written from the first wrong one on came back.
    var endsThere: Bool = false
}

extension Int64 {
    fileprivate var magnitudeAsSigned: Int64 { Int64(clamping: magnitude) }
}
