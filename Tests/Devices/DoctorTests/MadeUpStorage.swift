import Files
import Takes

/// A storage with call times and errors that a test defines. Other calls go to the kernel.
final class MadeUpStorage: SystemCalls, Clock {
    private struct State {
        var now: Int64 = 0
        var counts: [String: Int] = [:]
    }

    private let kernel = KernelCalls()
    private let state = Locked(State())
    private let free: Int64
    private let writeTime: Duration
    /// The duration of each sync, by its number.
    private let syncTime: @Sendable (Int) -> Duration
    /// The error of every call of this name.
    private let failure: (call: String, code: Int32)?

    init(
        free: Int64 = 1 << 40, writeTime: Duration = .milliseconds(10), failure: (call: String, code: Int32)? = nil,
        syncTime: @escaping @Sendable (Int) -> Duration = { _ in .milliseconds(40) }
    ) {
        self.free = free
        self.writeTime = writeTime
        self.failure = failure
        self.syncTime = syncTime
    }

    func count(of call: String) -> Int { state.withLock { $0.counts[call] ?? 0 } }

    func now() -> Instant { Instant(nanoseconds: state.withLock { $0.now }) }
    func wallTime() -> WallTime { WallTime(microseconds: 0) }

    /// - Returns: the call's number, from 0.
    @discardableResult
    private func door(_ call: String, taking time: Duration = .zero) throws(Errno) -> Int {
        let number = state.withLock { state in
            state.now += time.nanoseconds
            state.counts[call, default: 0] += 1
            return state.counts[call]! - 1
        }
        if let failure, failure.call == call { throw Errno(code: failure.code) }
        return number
    }

    func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        try door("open")
        return try kernel.open(path, flags: flags, mode: mode)
    }

    func close(_ descriptor: Int32) {
        _ = try? door("close")
        kernel.close(descriptor)
    }

    func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try door("write", taking: writeTime)
        return bytes.count
    }

    func fdatasync(_ descriptor: Int32) throws(Errno) {
        let number = try door("sync")
        state.withLock { $0.now += syncTime(number).nanoseconds }
    }

    func freeBytes(_ path: String) throws(Errno) -> Int64 {
        try door("free")
        return free
    }

    func unlink(_ path: String) throws(Errno) {
        try door("remove")
        try kernel.unlink(path)
    }

    func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try kernel.pread(descriptor, bytes, at: offset)
    }

    func fsync(_ descriptor: Int32) throws(Errno) {}
    func length(_ descriptor: Int32) throws(Errno) -> Int64 {
        try door("length")
        return try kernel.length(descriptor)
    }

    func ftruncate(_ descriptor: Int32, to byteCount: Int64) throws(Errno) {}
    func fchmod(_ descriptor: Int32, _ mode: UInt32) throws(Errno) { try kernel.fchmod(descriptor, mode) }
    func lock(_ descriptor: Int32) throws(Errno) {}
    func unlock(_ descriptor: Int32) {}
    func rename(_ from: String, to: String) throws(Errno) {}
    func rmdir(_ path: String) throws(Errno) {}
    func mkdir(_ path: String, mode: UInt32) throws(Errno) {}
    func identity(_ path: String) throws(Errno) -> FileIdentity { try kernel.identity(path) }
    func checkWritable(_ path: String) throws(Errno) { try kernel.checkWritable(path) }
    func entries(_ path: String) throws(Errno) -> [String] { try kernel.entries(path) }
}
