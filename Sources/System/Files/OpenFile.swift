import Glibc

/// A descriptor of an open file or folder. It is shared by all its users and closed after the last of them releases it.
///
/// The writer moves to the next part while the sync thread still syncs the previous one. Neither may close the file
/// while the other uses it.
public final class OpenFile: Sendable {
    /// The path at which it was opened.
    public let path: String
    let descriptor: Int32
    private let calls: any SystemCalls

    init(descriptor: Int32, path: String, calls: any SystemCalls) {
        self.descriptor = descriptor
        self.path = path
        self.calls = calls
    }

    /// Another descriptor of the file. The caller must close it.
    public func duplicate() throws(FileError) -> Int32 {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw FileError("duplicate", path, code: errno) }
        return copy
    }

    deinit {
        calls.close(descriptor)
    }
}
