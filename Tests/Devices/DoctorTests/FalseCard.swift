import Files
import Takes

@testable import Doctor

/// A card as the file system sees it: blocks, possibly fewer than it reports.
final class FalseCard: SystemCalls, Clock {
    /// How the card treats blocks above the real end.
    enum Kind {
        case genuine
        /// Places repeat after this number of bytes.
        case wrapping(Int64)
        /// Writes above this number of bytes are dropped, and read as zeros.
        case dropping(Int64)
        /// One write in every given number of writes is dropped.
        case leaky(Int)
    }

    private struct State {
        var now: Int64 = 0
        var blocks: [Int64: [UInt8]] = [:]
        var names: Set<String> = []
        var open: Set<Int32> = []
        var next: Int32 = 10
        var length: Int64 = 0
        var counts: [String: Int] = [:]
    }

    private let state = Locked(State())
    private let kind: Kind
    private let extents: [FileExtent]
    private let magic: UInt32
    private let free: Int64
    private let syncTime: Duration
    /// The error of a named call, from its call number `from` on, counted from 0.
    private let failure: (call: String, from: Int, code: Int32)?

    static let block: Int64 = 4096

    init(
        _ kind: Kind = .genuine, extents: [FileExtent], free: Int64, magic: UInt32 = 0xEF53,
        syncTime: Duration = .milliseconds(1), names: Set<String> = [],
        failure: (call: String, from: Int, code: Int32)? = nil
    ) {
        self.kind = kind
        self.extents = extents
        self.free = free
        self.magic = magic
        self.syncTime = syncTime
        self.failure = failure
        state.withLock { $0.names = names }
    }

    func count(of call: String) -> Int { state.withLock { $0.counts[call] ?? 0 } }
    var names: Set<String> { state.withLock { $0.names } }
    var openCount: Int { state.withLock { $0.open.count } }
    /// The places where blocks were really written.
    var places: Set<Int64> { state.withLock { Set($0.blocks.keys) } }

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
        if let failure, failure.call == call, number >= failure.from { throw Errno(code: failure.code) }
        return number
    }

    /// The real place of a block of the file, or nil if the file has no such block or the card drops it.
    private func place(_ offset: Int64) -> Int64? {
        guard let extent = extents.first(where: { $0.offset <= offset && offset < $0.offset + $0.byteCount }) else {
            return nil
        }
        let place = extent.place + offset - extent.offset
        switch kind {
        case .genuine, .leaky: return place
        case .wrapping(let period): return place % period
        case .dropping(let end): return place < end ? place : nil
        }
    }

    func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        try door("open")
        return state.withLock { state in
            state.names.insert(path)
            state.next += 1
            state.open.insert(state.next)
            return state.next
        }
    }

    func close(_ descriptor: Int32) { state.withLock { _ = $0.open.remove(descriptor) } }

    func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        let number = try door("write", taking: .microseconds(10))
        if case .leaky(let every) = kind, number % every == every - 1 { return bytes.count }
        guard let place = place(offset) else { return bytes.count }
        let copy = Array(bytes)
        state.withLock { $0.blocks[place] = copy }
        return bytes.count
    }

    func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try door("read", taking: .microseconds(10))
        for start in stride(from: 0, to: bytes.count, by: Int(Self.block)) {
            let block = place(offset + Int64(start)).flatMap { place in state.withLock { $0.blocks[place] } }
            for index in 0..<Int(Self.block) { bytes[start + index] = block?[index] ?? 0 }
        }
        return bytes.count
    }

    func allocate(_ descriptor: Int32, byteCount: Int64) throws(Errno) { try door("allocate") }
    func bypassCache(_ descriptor: Int32) throws(Errno) { try door("bypass") }
    func extents(_ descriptor: Int32) throws(Errno) -> [FileExtent] { extents }
    func fsync(_ descriptor: Int32) throws(Errno) { try door("sync", taking: syncTime) }
    func fdatasync(_ descriptor: Int32) throws(Errno) { try door("sync", taking: syncTime) }
    func freeBytes(_ path: String) throws(Errno) -> Int64 {
        try door("free")
        return free
    }
    func fileSystemMagic(_ path: String) throws(Errno) -> UInt32 { magic }
    func unlink(_ path: String) throws(Errno) {
        try door("remove")
        state.withLock { _ = $0.names.remove(path) }
    }
    func entries(_ path: String) throws(Errno) -> [String] {
        names.compactMap { $0.hasPrefix(path + "/") ? String($0.dropFirst(path.count + 1)) : nil }
    }
    func length(_ descriptor: Int32) throws(Errno) -> Int64 { 0 }
    func ftruncate(_ descriptor: Int32, to byteCount: Int64) throws(Errno) {}
    func fchmod(_ descriptor: Int32, _ mode: UInt32) throws(Errno) {}
    func lock(_ descriptor: Int32) throws(Errno) {}
    func unlock(_ descriptor: Int32) {}
    func rename(_ from: String, to: String) throws(Errno) {}
    func rmdir(_ path: String) throws(Errno) {}
    func mkdir(_ path: String, mode: UInt32) throws(Errno) {}
    func identity(_ path: String) throws(Errno) -> FileIdentity { throw Errno(code: 2) }
    func checkWritable(_ path: String) throws(Errno) {}
}
