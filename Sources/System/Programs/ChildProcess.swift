internal import CLinux
import Glibc

/// A child process with pipes for input, output and errors. The owner must call `end()`.
package struct ChildProcess: Sendable {
    /// Its standard input. All three pipe ends are non-blocking (`O_NONBLOCK`).
    package let input: Int32
    package let output: Int32
    package let errors: Int32
    private let process: pid_t

    /// Starts a program.
    /// - Parameter program: an absolute path.
    /// - Throws: the error code of posix_spawn(3) or pipe(2).
    package init(_ program: String, _ arguments: [String]) throws(ChildError) {
        var pipes: [(reading: Int32, writing: Int32)] = []
        func closeAll() { for pipe in pipes { _ = (close(pipe.reading), close(pipe.writing)) } }
        for _ in 0..<3 {
            var ends: [Int32] = [-1, -1]
            // Safe: the array has room for the two descriptors that the call writes.
            guard unsafe fieldfare_pipe(&ends) == 0 else {
                let error = ChildError(code: errno)
                closeAll()
                throw error
            }
            pipes.append((ends[0], ends[1]))
        }
        do throws(ChildError) {
            process = try spawn(program, arguments, files: [pipes[0].reading, pipes[1].writing, pipes[2].writing])
        } catch {
            closeAll()
            throw error
        }
        (input, output, errors) = (pipes[0].writing, pipes[1].reading, pipes[2].reading)
        _ = (close(pipes[0].reading), close(pipes[1].writing), close(pipes[2].writing))
        for end in [input, output, errors] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    }

    /// Kills the process if it still runs, waits for its end, and closes the pipes. Call it once.
    /// - Parameter isKilled: false to wait for a process that is about to end by itself.
    /// - Returns: its exit status, or nil if it was killed.
    @discardableResult
    package func end(isKilled: Bool = true) -> Int32? {
        for end in [input, output, errors] { close(end) }
        if isKilled { kill(process, SIGKILL) }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        // `WIFEXITED` and `WEXITSTATUS` of wait(2), which are macros.
        return status & 0x7f == 0 ? status >> 8 & 0xff : nil
    }
}

package struct ChildError: Error {
    /// The code of posix_spawn(3) or pipe(2).
    package let code: Int32

    package var text: String { unsafe String(cString: strerror(code)) }
}
