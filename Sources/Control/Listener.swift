import Glibc

/// The socket that peers connect to, and its file, which goes when this does.
struct Listener: ~Copyable {
    let descriptor: Descriptor
    private let path: String
    private let inode: ino_t

    /// Opens the socket at `path` for owner and group. Missing folders are made; a socket that nobody answers at,
    /// left behind by a process that was killed, is replaced.
    init(path: String) throws(ControlError) {
        try Self.makeFolders(of: path)
        let socket = Descriptor(Glibc.socket(AF_UNIX, socketType, 0))
        guard socket.number >= 0 else { throw ControlError(path, .listen("open a socket", code: errno)) }
        // On Linux the file takes the mode of the socket, so that at no time anybody else may connect.
        guard fchmod(socket.number, 0o660) == 0 else { throw ControlError(path, .listen("set rights", code: errno)) }
        // Two recorders that start at once must not each take away the other's file.
        let lock = Descriptor(unsafe open(Self.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard lock.number >= 0 else { throw ControlError(path, .listen("open the folder", code: errno)) }
        while flock(lock.number, LOCK_EX) != 0 {
            guard errno == EINTR else { throw ControlError(path, .listen("lock the folder", code: errno)) }
        }

        var code = try Self.bind(socket, path)
        if code == EADDRINUSE {
            try Self.removeAbandoned(path)
            code = try Self.bind(socket, path)
        }
        guard code == 0 else { throw ControlError(path, .listen("listen", code: code)) }
        // The umask took its share of the mode.
        guard unsafe chmod(path, 0o660) == 0, listen(socket.number, 16) == 0 else {
            throw ControlError(path, .listen("listen", code: errno))
        }
        var information = stat()
        guard unsafe lstat(path, &information) == 0 else {
            throw ControlError(path, .listen("listen", code: errno))
        }
        descriptor = socket
        self.path = path
        inode = information.st_ino
    }

    deinit {
        // Somebody may have put another there meanwhile.
        var information = stat()
        if unsafe lstat(path, &information) == 0, information.st_ino == inode { unsafe unlink(path) }
    }

    private static func bind(_ socket: borrowing Descriptor, _ path: String) throws(ControlError) -> Int32 {
        let number = socket.number
        let code = unsafe SocketAddress.with(path) { unsafe Glibc.bind(number, $0, $1) == 0 ? 0 : errno }
        guard let code else { throw ControlError(path, .pathLength) }
        return code
    }

    private static func removeAbandoned(_ path: String) throws(ControlError) {
        var information = stat()
        guard unsafe lstat(path, &information) == 0 else { return }
        guard information.st_mode & S_IFMT == S_IFSOCK else { throw ControlError(path, .notASocket) }
        let probe = Descriptor(Glibc.socket(AF_UNIX, socketType, 0))
        let number = probe.number
        let code = unsafe SocketAddress.with(path) { unsafe connect(number, $0, $1) == 0 ? 0 : errno }
        // Anything but a refusal is a sign of life: EAGAIN is a full queue, EACCES another user's.
        guard code == ECONNREFUSED else { throw ControlError(path, .taken) }
        guard unsafe unlink(path) == 0 else { throw ControlError(path, .listen("remove the old socket", code: errno)) }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func makeFolders(of path: String) throws(ControlError) {
        let folder = folder(of: path)
        guard folder != ".", folder != "/", unsafe access(folder, F_OK) != 0 else { return }
        try makeFolders(of: folder)
        guard unsafe mkdir(folder, 0o755) == 0 || errno == EEXIST else {
            throw ControlError(path, .listen("make the folder \(folder)", code: errno))
        }
    }
}

private let socketType = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
