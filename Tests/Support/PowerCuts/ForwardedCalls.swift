package import Files

/// The real file system, except the calls that a test implements itself.
package protocol ForwardedCalls: SystemCalls {
    var kernel: KernelCalls { get }
}

extension ForwardedCalls {
    package func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        try kernel.open(path, flags: flags, mode: mode)
    }
    package func close(_ descriptor: Int32) { kernel.close(descriptor) }
    package func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try kernel.pwrite(descriptor, bytes, at: offset)
    }
    package func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno)
        -> Int
    {
        try kernel.pread(descriptor, bytes, at: offset)
    }
    package func fdatasync(_ descriptor: Int32) throws(Errno) { try kernel.fdatasync(descriptor) }
    package func fsync(_ descriptor: Int32) throws(Errno) { try kernel.fsync(descriptor) }
    package func length(_ descriptor: Int32) throws(Errno) -> Int64 { try kernel.length(descriptor) }
    package func ftruncate(_ descriptor: Int32, to byteCount: Int64) throws(Errno) {
        try kernel.ftruncate(descriptor, to: byteCount)
    }
    package func fchmod(_ descriptor: Int32, _ mode: UInt32) throws(Errno) { try kernel.fchmod(descriptor, mode) }
    package func lock(_ descriptor: Int32) throws(Errno) { try kernel.lock(descriptor) }
    package func unlock(_ descriptor: Int32) { kernel.unlock(descriptor) }
    package func rename(_ from: String, to: String) throws(Errno) { try kernel.rename(from, to: to) }
    package func unlink(_ path: String) throws(Errno) { try kernel.unlink(path) }
    package func rmdir(_ path: String) throws(Errno) { try kernel.rmdir(path) }
    package func mkdir(_ path: String, mode: UInt32) throws(Errno) { try kernel.mkdir(path, mode: mode) }
    package func freeBytes(_ path: String) throws(Errno) -> Int64 { try kernel.freeBytes(path) }
    package func totalBytes(_ path: String) throws(Errno) -> Int64 { try kernel.totalBytes(path) }
    package func identity(_ path: String) throws(Errno) -> FileIdentity { try kernel.identity(path) }
    package func checkWritable(_ path: String) throws(Errno) { try kernel.checkWritable(path) }
    package func entries(_ path: String) throws(Errno) -> [String] { try kernel.entries(path) }
}
