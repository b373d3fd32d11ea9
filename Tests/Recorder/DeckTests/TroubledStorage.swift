import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes

@testable import TakeFiles

/// The real file system, until the test makes it fail or full.
final class TroubledStorage: ForwardedCalls {
    let kernel = KernelCalls()
    private let trouble = Locked<(code: Int32?, freeBytes: Int64?, refused: String?)>((nil, nil, nil))

    /// The error of all writes and syncs, or nil.
    var code: Int32? {
        get { trouble.withLock { $0.code } }
        set { trouble.withLock { $0.code = newValue } }
    }
    /// The reported free bytes, or nil for the real value.
    var free: Int64? {
        get { trouble.withLock { $0.freeBytes } }
        set { trouble.withLock { $0.freeBytes = newValue } }
    }

    /// No file whose name has this ending can be made. Nil allows all names.
    var refused: String? {
        get { trouble.withLock { $0.refused } }
        set { trouble.withLock { $0.refused = newValue } }
    }

    /// The error of every call that makes a file or a folder, or nil.
    var creating: Int32? {
        get { creation.withLock { $0.code } }
        set { creation.withLock { $0.code = newValue } }
    }
    /// The reported number of free inodes, or nil for the real value.
    var freeInodes: Int64? {
        get { creation.withLock { $0.freeInodes } }
        set { creation.withLock { $0.freeInodes = newValue } }
    }
    private let creation = Locked<(code: Int32?, freeInodes: Int64?)>((nil, nil))

    /// Names with this ending cannot be read. Nil allows all.
    var unreadable: String? {
        get { reads.withLock { $0.suffix } }
        set { reads.withLock { $0.suffix = newValue } }
    }
    /// The number of refused reads.
    var readsRefused: Int { reads.withLock { $0.count } }
    private let reads = Locked<(suffix: String?, count: Int)>((nil, 0))

    private func failRead(_ path: String) throws(Errno) {
        guard let unreadable, path.hasEnding(unreadable) else { return }
        reads.withLock { $0.count += 1 }
        throw Errno(code: EIO)
    }

    /// The error of queries for free space and identity, or nil.
    var statusCode: Int32? {
        get { status.withLock { $0 } }
        set { status.withLock { $0 = newValue } }
    }
    private let status = Locked<Int32?>(nil)
    /// Whether it was remounted read-only.
    var isReadOnly: Bool {
        get { flags.withLock { $0.isReadOnly } }
        set { flags.withLock { $0.isReadOnly = newValue } }
    }
    /// The mounted card, or 0 for none.
    var card: UInt64 {
        get { flags.withLock { $0.card } }
        set { flags.withLock { $0.card = newValue } }
    }
    /// Whether sound files cannot be read beyond their header.
    var isSoundUnreadable: Bool {
        get { flags.withLock { $0.isSoundUnreadable } }
        set { flags.withLock { $0.isSoundUnreadable = newValue } }
    }
    private let flags = Locked<(isReadOnly: Bool, card: UInt64, isSoundUnreadable: Bool)>((false, 1, false))

    /// Synced bytes of sound, by audio file.
    private let synced = Locked<(names: [Int32: String], bytes: [String: Int64])>(([:], [:]))

    /// Synced bytes of a take's filtered sound.
    func syncedBytes(of stem: String) -> Int64 {
        synced.withLock { $0.bytes.reduce(0) { $0 + ($1.key.isFile(of: stem) ? $1.value : 0) } }
    }

    private func note(_ descriptor: Int32, _ path: String) {
        let file = path.split(separator: "/").last.map(String.init) ?? ""
        guard file.hasSuffix(".wav.part"), !file.hasEnding("-raw.wav.part") else { return }
        synced.withLock { $0.names[descriptor] = file }
    }

    private func noteSync(_ descriptor: Int32) throws(Errno) {
        guard let file = synced.withLock({ $0.names[descriptor] }) else { return }
        let length = try kernel.length(descriptor)
        synced.withLock { $0.bytes[file] = max(0, length - Int64(WAVHeader.byteCount)) }
    }

    private func fail() throws(Errno) {
        if let code { throw Errno(code: code) }
    }

    /// The errors of data syncs, and of writes of sound after a file's header, or nil.
    var soundSyncs: Int32? {
        get { sound.withLock { $0.syncs } }
        set { sound.withLock { $0.syncs = newValue } }
    }
    var soundWrites: Int32? {
        get { sound.withLock { $0.writes } }
        set { sound.withLock { $0.writes = newValue } }
    }
    private let sound = Locked<(syncs: Int32?, writes: Int32?)>((nil, nil))

    /// The error of writes to files with these names, as if they were immutable, or nil.
    var frozen: (code: Int32, names: [String])? {
        get { freeze.withLock { $0.files } }
        set { freeze.withLock { $0.files = newValue } }
    }
    private let freeze = Locked<(names: [Int32: String], files: (code: Int32, names: [String])?)>(([:], nil))

    private func failFrozen(_ descriptor: Int32) throws(Errno) {
        let code = freeze.withLock { state -> Int32? in
            guard let files = state.files, let path = state.names[descriptor] else { return nil }
            return files.names.contains(where: path.hasEnding) ? files.code : nil
        }
        if let code { throw Errno(code: code) }
    }

    /// The error of every rename, or nil.
    var renaming: Int32? {
        get { renames.withLock { $0 } }
        set { renames.withLock { $0 = newValue } }
    }
    private let renames = Locked<Int32?>(nil)

    /// The number of files that can still be made before one is removed, or nil for no limit.
    var creatable: Int? {
        get { spare.withLock { $0 } }
        set { spare.withLock { $0 = newValue } }
    }
    private let spare = Locked<Int?>(nil)

    private func useSpare() throws(Errno) {
        let isLeft = spare.withLock { spare -> Bool in
            guard let left = spare else { return true }
            spare = max(0, left - 1)
            return left > 0
        }
        if !isLeft { throw Errno(code: ENOSPC) }
    }

    /// The number of folder listings.
    var listings: Int { listed.withLock { $0 } }
    private let listed = Locked(0)

    /// Called once, while the next file is made.
    nonisolated(unsafe) var whileCreating: (() -> Void)?

    func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        if flags & O_CREAT != 0, let happens = whileCreating {
            whileCreating = nil
            happens()
        }
        if flags & O_CREAT != 0 {
            try fail()
            if let code = creating, (try? kernel.identity(path)) == nil { throw Errno(code: code) }
            if (try? kernel.identity(path)) == nil { try useSpare() }
            if let refused, path.hasEnding(refused) { throw Errno(code: EIO) }
        }
        if flags & O_CREAT == 0 { try failRead(path) }
        let descriptor = try kernel.open(path, flags: flags, mode: mode)
        note(descriptor, path)
        freeze.withLock { $0.names[descriptor] = path }
        return descriptor
    }
    func close(_ descriptor: Int32) {
        synced.withLock { $0.names[descriptor] = nil }
        kernel.close(descriptor)
    }
    func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try fail()
        try failFrozen(descriptor)
        if let code = soundWrites, offset >= WAVHeader.byteCount { throw Errno(code: code) }
        return try kernel.pwrite(descriptor, bytes, at: offset)
    }
    func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        if isSoundUnreadable, offset == WAVHeader.byteCount { throw Errno(code: EIO) }
        return try kernel.pread(descriptor, bytes, at: offset)
    }
    func fdatasync(_ descriptor: Int32) throws(Errno) {
        try fail()
        if let code = soundSyncs { throw Errno(code: code) }
        try kernel.fdatasync(descriptor)
        try noteSync(descriptor)
    }
    func fsync(_ descriptor: Int32) throws(Errno) {
        try fail()
        try kernel.fsync(descriptor)
        try noteSync(descriptor)
    }
    func ftruncate(_ descriptor: Int32, to byteCount: Int64) throws(Errno) {
        try fail()
        try failFrozen(descriptor)
        try kernel.ftruncate(descriptor, to: byteCount)
    }
    func rename(_ from: String, to: String) throws(Errno) {
        try fail()
        if let code = renaming { throw Errno(code: code) }
        try kernel.rename(from, to: to)
        // The unreadable file has another name now.
        if let unreadable, from.hasSuffix(unreadable) { self.unreadable = nil }
    }
    func unlink(_ path: String) throws(Errno) {
        try fail()
        try kernel.unlink(path)
        spare.withLock { $0 = $0.map { $0 + 1 } }
    }
    func mkdir(_ path: String, mode: UInt32) throws(Errno) {
        if let code = creating, (try? kernel.identity(path)) == nil { throw Errno(code: code) }
        try kernel.mkdir(path, mode: mode)
    }
    func freeBytes(_ path: String) throws(Errno) -> Int64 {
        if let statusCode { throw Errno(code: statusCode) }
        if let free { return free }
        return try kernel.freeBytes(path)
    }
    func identity(_ path: String) throws(Errno) -> FileIdentity {
        if let statusCode { throw Errno(code: statusCode) }
        // The tests' folder always appears to be on the root's disk or on a card.
        var found = try kernel.identity(path)
        found.device = try kernel.identity("/").device + (path == "/" ? 0 : card)
        return found
    }
    func attributes(_ path: String) throws(Errno) -> FileAttributes { try kernel.attributes(path) }
    func status(_ descriptor: Int32) throws(Errno) -> FileStatus {
        var found = try kernel.status(descriptor)
        found.identity.device = try kernel.identity("/").device + card
        return found
    }
    func status(named path: String) throws(Errno) -> FileStatus {
        if let statusCode { throw Errno(code: statusCode) }
        var found = try kernel.status(named: path)
        found.identity.device = try kernel.identity("/").device + card
        return found
    }
    func link(_ descriptor: Int32, to path: String) throws(Errno) {
        try fail()
        try kernel.link(descriptor, to: path)
    }
    func freeFiles(_ path: String) throws(Errno) -> Int64? {
        if let freeInodes { return freeInodes }
        return try kernel.freeFiles(path)
    }
    func checkWritable(_ path: String) throws(Errno) {
        if isReadOnly { throw Errno(code: EROFS) }
        try kernel.checkWritable(path)
    }
    func entries(_ path: String) throws(Errno) -> [String] {
        try failRead(path)
        listed.withLock { $0 += 1 }
        return try kernel.entries(path)
    }
}
