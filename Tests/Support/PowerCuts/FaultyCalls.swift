package import Files
import Glibc
import Takes

/// The kernel's calls, except those that a plan makes fail. All calls are logged.
///
/// Syncs are not executed: no file here must survive the machine, and syncs would take most of the time.
package final class FaultyCalls: SystemCalls {
    /// Maps the number of a call, counted from 0, and its name to its error, or nil if it succeeds.
    package typealias Plan = @Sendable (Int, String) -> Int32?

    private struct State {
        var plan: Plan
        var trace: [String] = []
        var count = 0
        var names: [Int32: String] = [:]
        var free: Int64?
        var magic: UInt32 = 0xEF53
        var entryStarts: [Int64] = []
        var refusal: @Sendable (String, String) -> Int32? = { _, _ in nil }
    }

    private let kernel = KernelCalls()
    private let root: String
    private let largestWrite: Int
    /// Whether the file system can rename without replacing an existing file.
    private let renamesNew: Bool
    private let state: Locked<State>

    package init(
        root: String, largestWrite: Int = .max, renamesNew: Bool = false, plan: @escaping Plan = { _, _ in nil }
    ) {
        self.renamesNew = renamesNew
        self.root = root
        self.largestWrite = largestWrite
        state = Locked(State(plan: plan))
    }

    /// The successful calls, without those that only read: `write 2026-11-21/heron07-0001-061811Z.wav.part`.
    package var trace: [String] {
        get { state.withLock { $0.trace } }
        set { state.withLock { $0.trace = newValue } }
    }
    /// How many calls were made.
    package var count: Int { state.withLock { $0.count } }

    /// The reported free space, or nil for the real one.
    package var free: Int64? {
        get { state.withLock { $0.free } }
        set { state.withLock { $0.free = newValue } }
    }

    /// The reported file system type.
    package var magic: UInt32 {
        get { state.withLock { $0.magic } }
        set { state.withLock { $0.magic = newValue } }
    }

    /// The reported positions of the next directory entries, in order. After the last one, the position is not known.
    package var entryStarts: [Int64] {
        get { state.withLock { $0.entryStarts } }
        set { state.withLock { $0.entryStarts = newValue } }
    }

    package func setPlan(_ plan: @escaping Plan) {
        state.withLock {
            $0.plan = plan
            $0.count = 0
        }
    }

    /// Sets which calls fail. The refusal maps a call's name and its path below the root to its error, or nil if it
    /// succeeds.
    package func setRefusal(_ refusal: @escaping @Sendable (_ verb: String, _ subject: String) -> Int32?) {
        state.withLock { $0.refusal = refusal }
    }

    private func short(_ path: String) -> String {
        path == root ? "." : path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : path
    }

    private func name(_ descriptor: Int32) -> String {
        state.withLock { $0.names[descriptor] ?? "?" }
    }

    private func door<Result>(
        _ verb: String, _ subject: String, isTraced: Bool = true, _ call: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        let code = state.withLock {
            $0.count += 1
            return $0.refusal(verb, subject) ?? $0.plan($0.count - 1, verb)
        }
        if let code { throw Errno(code: code) }
        let result = try call()
        if isTraced { state.withLock { $0.trace.append("\(verb) \(subject)") } }
        return result
    }

    package func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        let isMaking = flags & O_CREAT != 0
        let descriptor = try door(isMaking ? "create" : "open", short(path), isTraced: isMaking) { () throws(Errno) in
            try kernel.open(path, flags: flags, mode: mode)
        }
        state.withLock { $0.names[descriptor] = short(path) }
        return descriptor
    }

    package func close(_ descriptor: Int32) {
        kernel.close(descriptor)
    }

    package func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try door("write", name(descriptor)) { () throws(Errno) in
            try kernel.pwrite(
                descriptor, UnsafeRawBufferPointer(rebasing: bytes.prefix(largestWrite)), at: offset)
        }
    }

    package func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno)
        -> Int
    {
        try door("read", name(descriptor), isTraced: false) { () throws(Errno) in
            try kernel.pread(
                descriptor, UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(largestWrite)), at: offset)
        }
    }

    package func fdatasync(_ descriptor: Int32) throws(Errno) {
        try door("fdatasync", name(descriptor)) {}
    }

    package func fsync(_ descriptor: Int32) throws(Errno) {
        try door("fsync", name(descriptor)) {}
    }

    package func dropCache(_ descriptor: Int32) throws(Errno) {
        try door("dropCache", name(descriptor), isTraced: false) { () throws(Errno) in try kernel.dropCache(descriptor)
        }
    }

    package func allocate(_ descriptor: Int32, byteCount: Int64) throws(Errno) {
        try door("allocate", name(descriptor)) { () throws(Errno) in
            try kernel.allocate(descriptor, byteCount: byteCount)
        }
    }

    /// Not executed, because not every file system of a test machine supports it.
    package func bypassCache(_ descriptor: Int32) throws(Errno) {
        try door("bypassCache", name(descriptor), isTraced: false) {}
    }

    /// Simulated, for the same reason.
    package func extents(_ descriptor: Int32) throws(Errno) -> [FileExtent] {
        try door("extents", name(descriptor), isTraced: false) { [FileExtent(offset: 0, place: 4096, byteCount: 8192)] }
    }

    package func length(_ descriptor: Int32) throws(Errno) -> Int64 {
        try door("length", name(descriptor), isTraced: false) { () throws(Errno) in try kernel.length(descriptor) }
    }

    package func ftruncate(_ descriptor: Int32, to byteCount: Int64) throws(Errno) {
        try door("truncate", name(descriptor)) { () throws(Errno) in
            try kernel.ftruncate(descriptor, to: byteCount)
        }
    }

    package func fchmod(_ descriptor: Int32, _ mode: UInt32) throws(Errno) {
        try door("chmod", name(descriptor), isTraced: false) { () throws(Errno) in
            try kernel.fchmod(descriptor, mode)
        }
    }

    package func lock(_ descriptor: Int32) throws(Errno) {
        try door("lock", name(descriptor), isTraced: false) { () throws(Errno) in try kernel.lock(descriptor) }
    }

    package func unlock(_ descriptor: Int32) { kernel.unlock(descriptor) }

    package func rename(_ from: String, to: String) throws(Errno) {
        try door("rename", "\(short(from)) \(short(to))") { () throws(Errno) in try kernel.rename(from, to: to) }
    }

    package func renameNew(_ from: String, to: String) throws(Errno) {
        guard renamesNew else { throw Errno(code: ENOSYS) }
        try door("rename", "\(short(from)) \(short(to))") { () throws(Errno) in try kernel.renameNew(from, to: to) }
    }

    package func unlink(_ path: String) throws(Errno) {
        try door("remove", short(path)) { () throws(Errno) in try kernel.unlink(path) }
    }

    package func rmdir(_ path: String) throws(Errno) {
        try door("rmdir", short(path)) { () throws(Errno) in try kernel.rmdir(path) }
    }

    package func mkdir(_ path: String, mode: UInt32) throws(Errno) {
        try door("mkdir", short(path)) { () throws(Errno) in try kernel.mkdir(path, mode: mode) }
    }

    package func freeBytes(_ path: String) throws(Errno) -> Int64 {
        try door("statvfs", short(path), isTraced: false) { () throws(Errno) in
            if let free { return free }
            return try kernel.freeBytes(path)
        }
    }

    package func totalBytes(_ path: String) throws(Errno) -> Int64 {
        try door("statvfs", short(path), isTraced: false) { () throws(Errno) in try kernel.totalBytes(path) }
    }

    package func fileSystemMagic(_ path: String) throws(Errno) -> UInt32 {
        try door("statfs", short(path), isTraced: false) { () throws(Errno) in magic }
    }

    package func entryStart(_ name: String, in folder: String) throws(Errno) -> Int64? {
        try door("find", name, isTraced: false) { () throws(Errno) in
            state.withLock { $0.entryStarts.isEmpty ? nil : $0.entryStarts.removeFirst() }
        }
    }

    package func identity(_ path: String) throws(Errno) -> FileIdentity {
        try door("stat", short(path), isTraced: false) { () throws(Errno) in try kernel.identity(path) }
    }

    package func checkWritable(_ path: String) throws(Errno) {
        try door("access", short(path), isTraced: false) { () throws(Errno) in try kernel.checkWritable(path) }
    }

    package func entries(_ path: String) throws(Errno) -> [String] {
        try door("list", short(path), isTraced: false) { () throws(Errno) in try kernel.entries(path) }
    }
}
