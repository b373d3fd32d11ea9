import Glibc

/// The listening socket and its file, which is removed with it.
///
/// A lock file next to the socket stays locked while this value lives, so that a second service at the same path
/// detects the first. Only the owner may open it (mode 0600), so that users who may only connect cannot lock it.
package struct Listener: ~Copyable {
    package let descriptor: Descriptor
    private let path: String
    private let inode: ino_t
    private let lock: Descriptor

    /// Why the socket could not be opened.
    package enum Failure: Error, Hashable {
        /// The path does not fit into a socket's address.
        case pathLength
        /// A file at the path is not a socket. It is left alone.
        case notASocket
        /// Another process holds the socket's lock.
        case taken
        /// A system call failed: the operation and its error code.
        case call(String, code: Int32)
    }

    /// How many times the lock is tried while another process holds it. This gives a process that is ending one second.
    private static let attempts = 100

    /// Opens the socket at `path` for owner and group. Missing folders are created. An existing socket is replaced once
    /// nobody holds its lock.
    /// - Parameter pause: waits 10 ms.
    /// - Throws: `taken` if another process holds the lock for a second.
    package init(path: String, pause: () -> Void = { usleep(10_000) }) throws(Failure) {
        guard (1...SocketAddress.longestPath).contains(path.utf8.count) else { throw Failure.pathLength }
        try Self.makeFolders(of: path)
        let socket = Descriptor(Glibc.socket(AF_UNIX, socketType, 0))
        guard socket.number >= 0 else { throw Failure.call("open a socket", code: errno) }
        // On Linux the file takes the mode of the socket, so that at no time another user may connect.
        guard fchmod(socket.number, 0o660) == 0 else { throw Failure.call("set rights", code: errno) }
        let lock = try Self.lock(path, pause)
        try Self.removeAbandoned(path)
        try Self.bind(socket, path)
        // bind applied the umask to the mode.
        guard unsafe chmod(path, 0o660) == 0, listen(socket.number, 16) == 0 else {
            throw Failure.call("listen", code: errno)
        }
        var information = stat()
        guard unsafe lstat(path, &information) == 0 else {
            throw Failure.call("listen", code: errno)
        }
        descriptor = socket
        self.path = path
        self.lock = lock
        inode = information.st_ino
    }

    deinit {
        // Another socket may have replaced it meanwhile.
        var information = stat()
        if unsafe lstat(path, &information) == 0, information.st_ino == inode { unsafe unlink(path) }
    }

    private static func lock(_ path: String, _ pause: () -> Void) throws(Failure) -> Descriptor {
        let file = path + ".lock"
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let lock = Descriptor(unsafe open(file, flags, 0o600))
        guard lock.number >= 0 else { throw Failure.call("open \(file)", code: errno) }
        // An existing file may have another mode. A lock file that root created by hand must not keep out the folder's
        // owner later.
        var information = stat()
        guard fchmod(lock.number, 0o600) == 0,
            unsafe geteuid() != 0 || stat(folder(of: path), &information) != 0
                || fchown(lock.number, information.st_uid, information.st_gid) == 0
        else {
            throw Failure.call("set the rights of \(file)", code: errno)
        }
        for _ in 0..<attempts {
            if flock(lock.number, LOCK_EX | LOCK_NB) == 0 { return lock }
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw Failure.call("lock \(file)", code: errno)
            }
            pause()
        }
        throw Failure.taken
    }

    private static func bind(_ socket: borrowing Descriptor, _ path: String) throws(Failure) {
        let number = socket.number
        let code = unsafe SocketAddress.with(path) { unsafe Glibc.bind(number, $0, $1) == 0 ? 0 : errno }
        guard let code else { throw Failure.pathLength }
        guard code == 0 else { throw Failure.call("listen", code: code) }
    }

    /// Removes the socket of a process that has ended. Only the holder of the lock may call this.
    private static func removeAbandoned(_ path: String) throws(Failure) {
        var information = stat()
        guard unsafe lstat(path, &information) == 0 else { return }
        guard information.st_mode & S_IFMT == S_IFSOCK else { throw Failure.notASocket }
        guard unsafe unlink(path) == 0 else { throw Failure.call("remove the old socket", code: errno) }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func makeFolders(of path: String) throws(Failure) {
        let folder = folder(of: path)
        guard folder != ".", folder != "/", unsafe access(folder, F_OK) != 0 else { return }
        try makeFolders(of: folder)
        guard unsafe mkdir(folder, 0o755) == 0 || errno == EEXIST else {
            throw Failure.call("make the folder \(folder)", code: errno)
        }
    }
}

private let socketType = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
