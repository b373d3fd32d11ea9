import Glibc
import TakeFiles
import Takes

/// The kernel's calls, but for reading files whose blocks a test has damaged.
final class UnreadableSound: SystemCalls {
    private let kernel = KernelCalls()
    private let state = Locked((damaged: Set<String>(), open: [Int32: String](), reads: 0))

    /// The names of the files that cannot be read.
    var damaged: Set<String> {
        get { state.withLock(\.damaged) }
        set { state.withLock { $0.damaged = newValue } }
    }
    /// How often one of them was to be read.
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

    func close(_ descriptor: Int32) { kernel.close(descriptor) }
    func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try kernel.pwrite(descriptor, bytes, at: offset)
    }
    func fdatasync(_ descriptor: Int32) throws(Errno) { try kernel.fdatasync(descriptor) }
    func fsync(_ descriptor: Int32) throws(Errno) { try kernel.fsync(descriptor) }
    func length(_ descriptor: Int32) throws(Errno) -> Int64 { try kernel.length(descriptor) }
    func ftruncate(_ descriptor: Int32, to byteCount: Int64) throws(Errno) {
        try kernel.ftruncate(descriptor, to: byteCount)
    }
    func fchmod(_ descriptor: Int32, _ mode: UInt32) throws(Errno) { try kernel.fchmod(descriptor, mode) }
    func lock(_ descriptor: Int32) throws(Errno) { try kernel.lock(descriptor) }
    func unlock(_ descriptor: Int32) { kernel.unlock(descriptor) }
    func rename(_ from: String, to: String) throws(Errno) { try kernel.rename(from, to: to) }
    func unlink(_ path: String) throws(Errno) { try kernel.unlink(path) }
    func rmdir(_ path: String) throws(Errno) { try kernel.rmdir(path) }
    func mkdir(_ path: String, mode: UInt32) throws(Errno) { try kernel.mkdir(path, mode: mode) }
    func freeBytes(_ path: String) throws(Errno) -> Int64 { try kernel.freeBytes(path) }
    func identity(_ path: String) throws(Errno) -> FileIdentity { try kernel.identity(path) }
    func attributes(_ path: String) throws(Errno) -> FileAttributes {
        var found = try kernel.attributes(path)
        // A test that changes a file as decay does changes this time as well.
        found.changedNs = 0
        return found
    }
    func checkWritable(_ path: String) throws(Errno) { try kernel.checkWritable(path) }
    func entries(_ path: String) throws(Errno) -> [String] { try kernel.entries(path) }
}

/// A clock that a test moves.
final class MovedClock: Clock {
    private let instant = Locked(Instant(nanoseconds: 5_000_000_000))
    func now() -> Instant { instant.withLock { $0 } }
    func wallTime() -> WallTime { WallTime(microseconds: 0) }
    func advance(by time: Duration) { instant.withLock { $0 = $0 + time } }
}
