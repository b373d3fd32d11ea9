internal import CLinux
import Glibc
package import Takes

/// A child process without a shell. It leads a process group of its own. The owner must call `end()`.
package final class ChildProcess: Sendable {
    /// This process's ends of the child's standard files. All three are non-blocking (`O_NONBLOCK`).
    package let input: Int32
    package let output: Int32
    package let errors: Int32
    /// The process number, or nil after the end.
    private let process: Locked<pid_t?>

    /// Starts a program. It gets only its three standard files, and no signal is blocked or ignored. This waits until
    /// the program is loaded from the disk.
    /// - Parameters:
    ///   - program: an absolute path.
    ///   - environment: all variables that it gets.
    /// - Throws: the error of posix_spawn(3), socketpair(2) or pipe(2).
    package init(
        _ program: String, _ arguments: [String],
        environment: [String: String] = ["PATH": "/usr/bin:/bin", "LC_ALL": "C"]
    ) throws(SystemError) {
        var ours: [Int32] = []
        var theirs: [Int32] = []
        defer { for end in theirs { close(end) } }
        do throws(SystemError) {
            // The input is a socket because a write to one need not raise SIGPIPE.
            var pair: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            // Safe: the array has room for the two descriptors that the call writes.
            guard unsafe socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw SystemError(errno) }
            ours.append(pair[0])
            theirs.append(pair[1])
            for _ in 0..<2 {
                // Safe: as above.
                guard unsafe fieldfare_pipe(&pair) == 0 else { throw SystemError(errno) }
                ours.append(pair[0])
                theirs.append(pair[1])
            }
            process = Locked(try spawn(program, arguments, environment, files: theirs))
        } catch {
            for end in ours { close(end) }
            throw error
        }
        for end in ours { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        (input, output, errors) = (ours[0], ours[1], ours[2])
    }

    /// Waits until the input accepts bytes, or another end has bytes or was closed.
    /// - Parameters:
    ///   - ends: those to wait for.
    ///   - milliseconds: the longest wait; −1 for no limit.
    /// - Returns: the ends that are ready; none after the longest wait or an interruption.
    package func wait(for ends: [Int32], milliseconds: Int32 = -1) -> [Int32] {
        var files = ends.map { pollfd(fd: $0, events: Int16($0 == input ? POLLOUT : POLLIN), revents: 0) }
        // Safe: the array lives for the call.
        guard unsafe poll(&files, nfds_t(files.count), milliseconds) > 0 else { return [] }
        return files.filter { $0.revents != 0 }.map(\.fd)
    }

    /// Writes the bytes that the input accepts now.
    /// - Returns: their number, or nil if the child has closed its input.
    package func write(_ bytes: ArraySlice<UInt8>) -> Int? {
        // Safe: the bytes live for the call.
        let count = unsafe bytes.withUnsafeBytes { bytes in
            unsafe Glibc.send(input, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
        if count >= 0 { return count }
        return isMomentary(errno) ? 0 : nil
    }

    /// Reads the bytes that the output or the errors have now, at most as many as the buffer holds.
    /// - Returns: their number, or nil at the end.
    package func read(_ end: Int32, _ buffer: inout [UInt8]) -> Int? {
        // Safe: the call writes no more than the buffer holds.
        let count = unsafe Glibc.read(end, &buffer, buffer.count)
        if count > 0 { return count }
        return count < 0 && isMomentary(errno) ? 0 : nil
    }

    package func endInput() { shutdown(input, Int32(SHUT_WR)) }

    /// Kills the process and those of its group. Any thread may call it at any time.
    package func kill() {
        process.withLock { process in
            // Not after the end, because another process may have the same number by then.
            if let process { _ = Glibc.kill(-process, SIGKILL) }
        }
    }

    /// Whether the process has ended. What it started may still run, and keep the output and the errors open.
    package var hasEnded: Bool {
        process.withLock { process in
            guard let process else { return true }
            // Safe: the structure starts as zeroes and is filled in place. It stays zero while the process runs.
            var information = unsafe siginfo_t()
            let found = unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT | WNOHANG)
            return unsafe found < 0 || information.si_signo != 0
        }
    }

    /// Closes the ends, waits until the process has ended, and kills what is left of its group. Call it once.
    /// - Returns: its exit status, or nil if a signal ended it.
    @discardableResult
    package func end() -> Int32? {
        for end in [input, output, errors] { close(end) }
        guard let number = process.withLock({ $0 }) else { return nil }
        // WNOWAIT keeps the process number reserved until the lock is held, so a kill cannot reach another process.
        // Safe: the structure starts as zeroes and is filled in place.
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return process.withLock { process in
            _ = Glibc.kill(-number, SIGKILL)
            process = nil
            var status: Int32 = 0
            let found = unsafe waitpid(number, &status, 0)
            // `WIFEXITED` and `WEXITSTATUS` of wait(2), which are macros.
            return found > 0 && status & 0x7f == 0 ? status >> 8 & 0xff : nil
        }
    }
}

/// Whether a call failed only because nothing could pass at that moment.
private func isMomentary(_ code: Int32) -> Bool { code == EAGAIN || code == EINTR }

/// - Parameter files: its standard input, output and error output.
/// - Returns: the process number.
private func spawn(
    _ program: String, _ arguments: [String], _ environment: [String: String], files: [Int32]
) throws(SystemError) -> pid_t {
    // Safe: all are made and destroyed here.
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
        unsafe posix_spawn_file_actions_destroy(&actions)
        unsafe posix_spawnattr_destroy(&attributes)
    }
    for (number, file) in files.enumerated() {
        unsafe posix_spawn_file_actions_adddup2(&actions, file, Int32(number))
    }
    unsafe posix_spawn_file_actions_addclosefrom_np(&actions, Int32(files.count))
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    // Safe: the texts live until they are freed below, and both arrays end with nil.
    func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0) } + [nil]
    }
    var words = unsafe copies([program] + arguments)
    var variables = unsafe copies(environment.map { "\($0)=\($1)" })
    defer { unsafe (words + variables).forEach { unsafe free($0) } }
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, program, &actions, &attributes, &words, &variables)
    guard code == 0 else { throw SystemError(code) }
    return process
}
