import Glibc
import Programs
import Takes

/// A child process without a shell. The calls that wait for it run on their own thread.
final class RcloneProcess: Sendable {
    /// The exit status, and the standard error output.
    struct Ended: Sendable {
        /// The exit status, or −1 if a signal ended the process.
        var status: Int32
        /// The end of the output, as text.
        var errors: String
    }

    typealias Input = ([UInt8]) async throws -> Void

    private enum State {
        case running(pid_t)
        case ended(Int32)
    }
    private let state: Locked<State>
    /// This process's ends of the sockets for the child's input and output.
    private let input: Int32
    private let output: Int32
    /// An unlinked file, so that nobody must read it while the program runs.
    private let errors: Int32

    private static let longestErrors = 16 << 10

    /// The program ended or closed its input. Its exit status says why.
    private struct InputClosed: Error {}

    /// Runs a program to its end. The program is killed if the task is cancelled, or a closure throws.
    /// - Parameters:
    ///   - thread: runs all waiting calls.
    ///   - send: writes the program's input. The program must not write output before it has read all input. If `send`
    ///     throws, the program is killed before its input ends, so that it does not treat a part as the whole.
    ///   - receive: receives the program's output.
    /// - Throws: `StoreError`, `.refused` if the program cannot be started; the errors of the closures.
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String], on thread: DiskReader,
        send: ((Input) async throws -> Void)? = nil, receive: ([UInt8]) async throws -> Void
    ) async throws -> Ended {
        try Task.checkCancellation()
        let process = try RcloneProcess(program, arguments, environment)
        return try await withTaskCancellationHandler {
            var failure: (any Error)?
            do {
                do {
                    try await send? { bytes in try await thread.perform { _ in try process.write(bytes) } }
                } catch is InputClosed {}
                process.endInput()
                while true {
                    let piece = try await thread.perform { _ in process.read() }
                    guard !piece.isEmpty else { break }
                    try await receive(piece)
                }
            } catch {
                process.kill()
                failure = error
            }
            let status = try await thread.perform { _ in process.wait() }
            try Task.checkCancellation()
            if let failure { throw failure }
            return Ended(status: status, errors: process.text())
        } onCancel: {
            process.kill()
        }
    }

    private init(_ program: String, _ arguments: [String], _ environment: [String: String]) throws(StoreError) {
        var pairs: [(ours: Int32, theirs: Int32)] = []
        func problem(_ code: Int32) -> StoreError {
            for pair in pairs { close(pair.ours) }
            // Safe: the string lives until the next call on this thread.
            return unsafe StoreError(
                .refused, "outbox: \(program): cannot be started: \(String(cString: strerror(code)))")
        }
        defer { for pair in pairs { close(pair.theirs) } }
        for _ in 0..<2 {
            var pair: [Int32] = [0, 0]
            guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
                throw problem(errno)
            }
            pairs.append((pair[0], pair[1]))
        }
        // Safe: the template is changed in place and ends with a 0.
        var path = Array("/tmp/fieldfare-rclone-XXXXXX".utf8CString)
        let said = unsafe mkstemp(&path)
        guard said >= 0 else { throw problem(errno) }
        unsafe unlink(path)
        _ = fcntl(said, F_SETFD, FD_CLOEXEC)
        let identifier: pid_t
        do throws(ChildError) {
            identifier = try spawn(
                program, arguments, files: [pairs[0].theirs, pairs[1].theirs, said], environment: environment,
                leadsGroup: true)
        } catch {
            close(said)
            throw problem(error.code)
        }
        state = Locked(.running(identifier))
        input = pairs[0].ours
        output = pairs[1].ours
        errors = said
    }

    deinit {
        close(input)
        close(output)
        close(errors)
    }

    private func kill() {
        state.withLock { state in
            // Not after the wait, because another process may have the same number by then.
            if case .running(let identifier) = state { _ = Glibc.kill(-identifier, SIGKILL) }
        }
    }

    private func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            // Safe: the bytes live for the call.
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.send(
                    input, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                guard errno == EINTR else { throw InputClosed() }
            } else {
                sent += count
            }
        }
    }

    private func endInput() { shutdown(input, Int32(SHUT_WR)) }

    /// - Returns: the next bytes; empty at the end.
    private func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            // Safe: the call writes no more than the buffer holds.
            let count = unsafe Glibc.read(output, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            return Array(bytes.prefix(max(0, count)))
        }
    }

    /// Waits for the end of the program.
    private func wait() -> Int32 {
        guard case .running(let identifier) = state.withLock({ $0 }) else { return -1 }
        // WNOWAIT keeps the process number reserved until the lock is held, so a kill cannot reach another process.
        // Safe: the structure starts as zeroes and is filled in place.
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return state.withLock { state in
            // Children of the program may still run.
            _ = Glibc.kill(-identifier, SIGKILL)
            var status: Int32 = 0
            let found = unsafe waitpid(identifier, &status, 0)
            let code = found > 0 && status & 0x7f == 0 ? status >> 8 & 0xff : -1
            state = .ended(code)
            return code
        }
    }

    private func text() -> String {
        let length = lseek(errors, 0, SEEK_END)
        var bytes = [UInt8](repeating: 0, count: Self.longestErrors)
        // Safe: the call writes no more than the buffer holds.
        let count = unsafe pread(errors, &bytes, bytes.count, max(0, length - off_t(Self.longestErrors)))
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
