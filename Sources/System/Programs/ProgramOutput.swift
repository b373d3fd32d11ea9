import Glibc
public import Takes

/// A program's standard output until its end. The program gets no input, and no environment of this process.
public struct ProgramOutput: Sendable {
    public let bytes: [UInt8]
    public let status: Int32

    /// Runs a program to its end. A program that takes too long or writes too much is killed.
    /// - Parameters:
    ///   - program: an absolute path.
    ///   - limit: the most bytes that it may write.
    ///   - patience: how long it may take.
    ///   - mayFail: whether the output also counts if the exit status is not 0. An empty output is then a failure.
    /// - Throws: `ProgramError`.
    public init(
        of program: String, _ arguments: [String], limit: Int, patience: Duration, mayFail: Bool = false,
        clock: any Clock = SystemClock()
    ) throws(ProgramError) {
        let process: ChildProcess
        do throws(ChildError) {
            process = try ChildProcess(program, arguments)
        } catch {
            throw ProgramError(program: program, problem: "cannot be started: \(error.text)")
        }
        let deadline = clock.now() + patience
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var problem: String?
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        var open = [process.output, process.errors]
        while !open.isEmpty, problem == nil {
            var files = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let left = (deadline - clock.now()).nanoseconds / 1_000_000
            guard left > 0 else {
                problem = "does not answer"
                break
            }
            // Safe: the array lives for the call.
            guard unsafe poll(&files, nfds_t(files.count), Int32(clamping: left)) > 0 else { continue }
            for file in files where file.revents != 0 {
                // Safe: the call writes at most `piece.count` bytes.
                let count = unsafe read(file.fd, &piece, piece.count)
                if count > 0 {
                    if file.fd == process.output {
                        output += piece.prefix(count)
                    } else {
                        errors += piece.prefix(count)
                    }
                } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
                    open.removeAll { $0 == file.fd }
                }
            }
            if output.count + errors.count > limit { problem = "writes more than \(limit) bytes" }
        }
        let status = process.end(isKilled: problem != nil)
        if let problem { throw ProgramError(program: program, problem: problem) }
        guard let status, status == 0 || (mayFail && !output.isEmpty) else {
            let line = errors.split(separator: UInt8(ascii: "\n")).first.map { String(decoding: $0, as: UTF8.self) }
            throw ProgramError(program: program, problem: line ?? "failed with status \(status ?? -1)")
        }
        bytes = output
        self.status = status
    }
}

/// Why a program has no output.
public struct ProgramError: Error, CustomStringConvertible {
    /// Its path.
    public let program: String
    public let problem: String

    public var description: String { "\(program): \(problem)" }
}
