import Files
import Glibc
import PowerCuts
import Takes

/// The kernel's calls, except for reading files that a test marks as damaged.
final class UnreadableSound: ForwardedCalls {
    let kernel = KernelCalls()
    private let state = Locked((damaged: Set<String>(), open: [Int32: String](), reads: 0))

    /// The names of the files that cannot be read.
    var damaged: Set<String> {
        get { state.withLock(\.damaged) }
        set { state.withLock { $0.damaged = newValue } }
    }
    /// The number of attempts to read one of them.
    var reads: Int { state.withLock(\.reads) }

    func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        let descriptor = try kernel.open(path, flags: flags, mode: mode)
        state.withLock { $0.open[descriptor] = String(path.split(separator: "/").last ?? "") }
        return descriptor
    }
    func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        let isDamaged = state.withLock { state in
            guard state.damaged.contains(state.open[descriptor] ?? "") else { return false }
            state.reads += 1
            return true
        }
        guard !isDamaged else { throw Errno(code: EIO) }
        return try kernel.pread(descriptor, bytes, at: offset)
    }

    func attributes(_ path: String) throws(Errno) -> FileAttributes {
        var found = try kernel.attributes(path)
        // A test that simulates bit rot also changes the ctime, so it is hidden.
        found.changedNs = 0
        return found
    }
}
