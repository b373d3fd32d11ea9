import Glibc

/// A descriptor of an open file or folder, shared by all that still need it, closed after the last of them.
///
/// The writer goes on to the next part while the sync thread still syncs the last one: neither may close it under the other.
public final class OpenFile: Sendable {
    /// Where it was when it was opened.
    public let path: String
    let descriptor: Int32
    private let calls: any SystemCalls

    init(descriptor: Int32, path: String, calls: any SystemCalls) {
        self.descriptor = descriptor
        self.path = path
        self.calls = calls
    }

    /// Another descriptor of the file, which its owner closes.
    /// - Throws: `FileError`.
    public func duplicate() throws(FileError) -> Int32 {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw FileError("duplicate", path, code: errno) }
        return copy
    }

    deinit {
        calls.close(descriptor)
    }
}
