import Glibc
import Sockets
import TestBench
import Testing

extension TestFolder {
    fileprivate var socket: String { path + "/recorder.sock" }
}

@Suite struct ListenerTests {
    private let folder = TestFolder()

    private func failure(_ path: String) -> Listener.Failure? {
        do throws(Listener.Failure) {
            // A held lock is tried again without a pause.
            _ = try Listener(path: path, pause: {})
            return nil
        } catch {
            return error
        }
    }

    private func mode(_ path: String) -> mode_t? {
        var information = stat()
        return unsafe lstat(path, &information) == 0 ? information.st_mode : nil
    }

    @Test func `the socket is for its owner and group, and goes with its listener`() throws {
        do {
            let listener = try Listener(path: folder.socket)
            #expect(listener.descriptor.number >= 0)
            #expect(mode(folder.socket) == S_IFSOCK | 0o660)
            #expect(mode(lock) == S_IFREG | 0o600)
        }
        #expect(mode(folder.socket) == nil)
    }

    private var lock: String { folder.socket + ".lock" }

    @Test func `a lock on the folder, or on what else may be read, keeps no recorder out`() throws {
        let held = Descriptor(unsafe open(folder.path, O_RDONLY | O_DIRECTORY))
        #expect(flock(held.number, LOCK_EX) == 0)
        let listener = try Listener(path: folder.socket) { Issue.record("it waits") }
        #expect(listener.descriptor.number >= 0)
    }

    @Test func `a socket that another process has bound is replaced`() throws {
        let other = Descriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        let number = other.number
        #expect(unsafe SocketAddress.with(folder.socket) { unsafe bind(number, $0, $1) } == 0)
        #expect(listen(number, 1) == 0)
        #expect(failure(folder.socket) == nil)
    }

    @Test func `a recorder that is about to end is waited for`() throws {
        let held = Descriptor(unsafe open(lock, O_RDWR | O_CREAT, 0o600))
        let number = held.number
        #expect(flock(number, LOCK_EX) == 0)
        var pauses = 0
        let listener = try Listener(path: folder.socket) {
            pauses += 1
            if pauses == 7 { flock(number, LOCK_UN) }
        }
        #expect(listener.descriptor.number >= 0)
        #expect(pauses == 7)
    }

    @Test func `a lock that is held for a second is another recorder's`() {
        let held = Descriptor(unsafe open(lock, O_RDWR | O_CREAT, 0o600))
        #expect(flock(held.number, LOCK_EX) == 0)
        var pauses = 0
        #expect(throws: Listener.Failure.taken) {
            _ = try Listener(path: folder.socket) { pauses += 1 }
        }
        #expect(pauses == 100)
    }

    @Test func `the lock is for its owner alone, whatever mode its file had`() throws {
        let file = unsafe open(lock, O_RDWR | O_CREAT, 0o666)
        fchmod(file, 0o666)
        close(file)
        #expect(failure(folder.socket) == nil)
        #expect(mode(lock) == S_IFREG | 0o600)
    }

    @Test func `a lock that is a link is not followed`() {
        unsafe symlink("/dev/null", lock)
        #expect(failure(folder.socket) == .call("open \(lock)", code: ELOOP))
    }

    @Test func `folders that are missing are made`() throws {
        let path = folder.path + "/run/fieldfare/recorder.sock"
        do {
            let listener = try Listener(path: path)
            #expect(listener.descriptor.number >= 0)
            #expect(mode(path) == S_IFSOCK | 0o660)
        }
        unsafe unlink(path + ".lock")
        unsafe rmdir(folder.path + "/run/fieldfare")
        unsafe rmdir(folder.path + "/run")
    }

    @Test func `a socket without a server is replaced`() throws {
        let old = Descriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        let number = old.number
        let bound = unsafe SocketAddress.with(folder.socket) { unsafe bind(number, $0, $1) }
        #expect(bound == 0)
        #expect(failure(folder.socket) == nil)
    }

    @Test func `a file that is no socket is left alone`() throws {
        let file = unsafe open(folder.socket, O_CREAT | O_WRONLY, 0o600)
        close(file)
        #expect(failure(folder.socket) == .notASocket)
        #expect(mode(folder.socket) == S_IFREG | 0o600)
    }

    @Test func `a path that no socket can have is refused`() {
        let long = folder.path + "/" + String(repeating: "x", count: 100)
        #expect(failure(long) == .pathLength)
    }

    @Test func `a folder that cannot be made is named`() {
        #expect(failure("/proc/fieldfare/recorder.sock") == .call("make the folder /proc/fieldfare", code: ENOENT))
    }

    @Test func `another's socket outlives a listener that lost its own`() throws {
        do {
            let first = try Listener(path: folder.socket)
            #expect(first.descriptor.number >= 0)
            unsafe unlink(folder.socket)
            let second = Descriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
            // A file created in between takes the first one's inode.
            let file = unsafe open(folder.path + "/between", O_CREAT | O_WRONLY, 0o600)
            close(file)
            let number = second.number
            _ = unsafe SocketAddress.with(folder.socket) { unsafe bind(number, $0, $1) }
            unsafe unlink(folder.path + "/between")
        }
        #expect(mode(folder.socket) != nil)
    }
}
