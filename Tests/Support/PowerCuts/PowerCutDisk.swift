package import Files
import Glibc
import SeededRandom
import Takes

/// The kernel's calls, logged as disk operations. The log determines the possible contents of the disk if the power
/// fails after any of them (`PowerCut`): only synced data is safe.
package final class PowerCutDisk: SystemCalls {
    enum Event: Sendable {
        case make(String, Int)
        case makeFolder(String)
        case rename(String, String)
        case remove(String)
        case write(Int, at: Int, [UInt8])
        case cut(Int, to: Int)
        case syncData(Int)
        case syncFile(Int)
        case syncFolder(String)
    }

    private struct State {
        var events: [Event] = []
        /// The present file of each name.
        var files: [String: Int] = [:]
        var descriptors: [Int32: (path: String, file: Int?)] = [:]
        var fileCount = 0
        var limit = Int.max
    }

    private let kernel = KernelCalls()
    private let root: String
    private let magic: UInt32
    private let first: [String: [UInt8]]
    private let state: Locked<State>

    /// A disk with the present contents of the folder `root`, all synced.
    package init(root: String, isFAT: Bool = false) throws {
        self.root = root
        magic = isFAT ? 0x4D44 : 0xEF53
        first = try everything(in: root)
        var state = State()
        for path in first.keys.sorted() {
            state.files[path] = state.fileCount
            state.fileCount += 1
        }
        self.state = Locked(state)
    }

    /// How many operations were logged so far.
    package var count: Int { state.withLock { $0.events.count } }

    /// After this number of operations the process counts as killed: the next operation fails with `EIO`.
    package var limit: Int {
        get { state.withLock(\.limit) }
        set { state.withLock { $0.limit = newValue } }
    }

    private func live() throws(Errno) {
        guard state.withLock({ $0.events.count < $0.limit }) else { throw Errno(code: EIO) }
    }

    /// Whether a folder survives a power cut now: it existed before, or its parent was synced since it was created.
    package func isSure(folder: String) -> Bool {
        let events = state.withLock { $0.events }
        let made = events.lastIndex { if case .makeFolder(folder) = $0 { true } else { false } }
        let around = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? ""
        return made.map { made in
            events[made...].contains { if case .syncFolder(around) = $0 { true } else { false } }
        } ?? true
    }

    private func short(_ path: String) -> String { String(path.dropFirst(root.count + 1)) }

    private func note(_ event: (inout State) -> Event?) {
        state.withLock { state in
            if let event = event(&state) { state.events.append(event) }
        }
    }

    package func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        if flags & O_CREAT != 0 { try live() }
        let descriptor = try kernel.open(path, flags: flags, mode: mode)
        note { state in
            let name = short(path)
            let known = state.files[name]
            defer { state.descriptors[descriptor] = (name, state.files[name]) }
            guard flags & O_CREAT != 0 else { return nil }
            if let known { return flags & O_TRUNC != 0 ? .cut(known, to: 0) : nil }
            state.files[name] = state.fileCount
            state.fileCount += 1
            return .make(name, state.fileCount - 1)
        }
        return descriptor
    }

    package func close(_ descriptor: Int32) { kernel.close(descriptor) }

    package func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try live()
        let count = try kernel.pwrite(descriptor, bytes, at: offset)
        note { $0.descriptors[descriptor]?.file.map { .write($0, at: Int(offset), Array(bytes.prefix(count))) } }
        return count
    }

    package func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno)
        -> Int
    {
        try kernel.pread(descriptor, bytes, at: offset)
    }

    package func fdatasync(_ descriptor: Int32) throws(Errno) {
        try live()
        note { $0.descriptors[descriptor]?.file.map { .syncData($0) } }
    }

    package func fsync(_ descriptor: Int32) throws(Errno) {
        try live()
        note { state in
            state.descriptors[descriptor].map { subject in
                subject.file.map { .syncFile($0) } ?? .syncFolder(subject.path)
            }
        }
    }

    package func length(_ descriptor: Int32) throws(Errno) -> Int64 { try kernel.length(descriptor) }

    package func ftruncate(_ descriptor: Int32, to byteCount: Int64) throws(Errno) {
        try live()
        try kernel.ftruncate(descriptor, to: byteCount)
        note { $0.descriptors[descriptor]?.file.map { .cut($0, to: Int(byteCount)) } }
    }

    package func fchmod(_ descriptor: Int32, _ mode: UInt32) throws(Errno) { try kernel.fchmod(descriptor, mode) }
    package func lock(_ descriptor: Int32) throws(Errno) { try kernel.lock(descriptor) }
    package func unlock(_ descriptor: Int32) { kernel.unlock(descriptor) }

    package func rename(_ from: String, to: String) throws(Errno) {
        try live()
        try kernel.rename(from, to: to)
        note { state in
            state.files[short(to)] = state.files.removeValue(forKey: short(from))
            return .rename(short(from), short(to))
        }
    }

    package func unlink(_ path: String) throws(Errno) {
        try live()
        try kernel.unlink(path)
        note { state in
            state.files[short(path)] = nil
            return .remove(short(path))
        }
    }

    // Not logged: only exFAT has spacers, and this disk is not exFAT.
    package func rmdir(_ path: String) throws(Errno) { try kernel.rmdir(path) }

    package func mkdir(_ path: String, mode: UInt32) throws(Errno) {
        try live()
        try kernel.mkdir(path, mode: mode)
        note { _ in .makeFolder(short(path)) }
    }

    package func freeBytes(_ path: String) throws(Errno) -> Int64 { try kernel.freeBytes(path) }
    package func fileSystemMagic(_ path: String) throws(Errno) -> UInt32 { magic }
    package func identity(_ path: String) throws(Errno) -> FileIdentity { try kernel.identity(path) }

    package func attributes(_ path: String) throws(Errno) -> FileAttributes { try kernel.attributes(path) }

    package func checkWritable(_ path: String) throws(Errno) { try kernel.checkWritable(path) }

    package func entries(_ path: String) throws(Errno) -> [String] { try kernel.entries(path) }
}

extension PowerCutDisk {
    /// The contents of each file by path, after the first `count` events and the given loss.
    package func files(after count: Int, losing loss: PowerCut.Loss, seed: UInt64 = 1) -> [String: [UInt8]] {
        let events = state.withLock { Array($0.events.prefix(count)) }
        return PowerCut(events: events, first: first).files(losing: loss, random: SeededRandom(seed: seed))
    }
}

/// Every file below a folder, with its content.
package func everything(in path: String, files: FileSystem = FileSystem()) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for name in try files.entries(path) {
        if let below = try? everything(in: "\(path)/\(name)", files: files) {
            for (key, value) in below { found["\(name)/\(key)"] = value }
        } else {
            found[name] = try files.contents("\(path)/\(name)", limit: 1 << 26)
        }
    }
    return found
}
