import TakeFiles

/// The kernel's calls, but for one folder that cannot be opened.
struct RefusedFolder: SystemCalls {
    private let kernel = KernelCalls()
    private let path: String
    private let code: Int32

    init(_ path: String, _ code: Int32) {
        self.path = path
        self.code = code
    }

    func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        guard path != self.path else { throw Errno(code: code) }
        return try kernel.open(path, flags: flags, mode: mode)
    }
    func entries(_ path: String) throws(Errno) -> [String] {
        guard path != self.path else { throw Errno(code: code) }
        return try kernel.entries(path)
    }
    func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try unsafe kernel.pread(descriptor, bytes, at: offset)
    }

    func close(_ descriptor: Int32) { kernel.close(descriptor) }
    func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try unsafe kernel.pwrite(descriptor, bytes, at: offset)
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
    func attributes(_ path: String) throws(Errno) -> FileAttributes { try kernel.attributes(path) }
    func checkWritable(_ path: String) throws(Errno) { try kernel.checkWritable(path) }
}
