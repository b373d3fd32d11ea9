package import Files
import PowerCuts
import Takes

/// The kernel's calls, with a count of the bytes read from files.
package final class CountedReads: ForwardedCalls {
    package let kernel = KernelCalls()
    private let count = Locked<Int64>(0)

    package init() {}

    /// The number of bytes read since the last call.
    package func take() -> Int64 {
        count.withLock { count in
            defer { count = 0 }
            return count
        }
    }

    package func pread(
        _ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(Errno) -> Int {
        let read = try kernel.pread(descriptor, bytes, at: offset)
        count.withLock { $0 += Int64(read) }
        return read
    }
}
