import Glibc

/// A failed system call.
public struct SystemError: Error, Hashable, CustomStringConvertible {
    /// As in `errno(3)`.
    public let code: Int32

    public init(_ code: Int32) { self.code = code }

    public var description: String {
        // Safe: the text lives until the next call on this thread, and is copied at once.
        unsafe String(cString: strerror(code))
    }
}
