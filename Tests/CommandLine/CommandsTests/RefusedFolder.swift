import Files
import PowerCuts

/// The kernel's calls, except that one folder cannot be opened.
struct RefusedFolder: ForwardedCalls {
    let kernel = KernelCalls()
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

    func attributes(_ path: String) throws(Errno) -> FileAttributes { try kernel.attributes(path) }
}
