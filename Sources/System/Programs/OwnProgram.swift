import Glibc

/// The path of this process's program.
public enum OwnProgram {
    /// Without links, or nil if the kernel does not give it.
    public static var path: String? {
        // Safe: the text that realpath(3) allocates is freed here.
        guard let path = unsafe realpath("/proc/self/exe", nil) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// The path of another program in the same folder.
    public static func sibling(_ name: String) -> String {
        let path = path ?? "/usr/bin/"
        return path[..<(path.lastIndex(of: "/") ?? path.startIndex)] + "/" + name
    }
}
