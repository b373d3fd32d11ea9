internal import CLinux
import Glibc

/// A program that runs as a child of this process, with a pipe to it and two from it. Whoever has it ends it.
package struct ChildProcess: Sendable {
    /// Its standard input. Neither this one nor the others make their user wait (`O_NONBLOCK`).
    package let input: Int32
    /// Its standard output.
    package let output: Int32
    /// Its standard error output.
    package let errors: Int32
    private let process: pid_t

    /// Starts a program.
    /// - Parameter program: an absolute path.
    /// - Throws: `Errno` of posix_spawn(3) or pipe(2).
    package init(_ program: String, _ arguments: [String]) throws(ChildError) {
        var pipes: [(reading: Int32, writing: Int32)] = []
        func closeAll() { for pipe in pipes { _ = (close(pipe.reading), close(pipe.writing)) } }
        for _ in 0..<3 {
            var ends: [Int32] = [-1, -1]
            // Safe: the array has the two that the call writes.
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

    /// Kills it if it still runs, waits for its end, and closes the pipes. To be called once.
    /// - Parameter isKilled: false: it is about to end by itself, and is waited for.
    /// - Returns: its exit status; nil: it was killed.
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

/// A program could not be started.
package struct ChildError: Error {
    /// The code of posix_spawn(3) or pipe(2).
    package let code: Int32

    /// What it means.
    package var text: String { unsafe String(cString: strerror(code)) }
}
