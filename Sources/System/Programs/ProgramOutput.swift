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
        do throws(SystemError) {
            process = try ChildProcess(program, arguments)
        } catch {
            throw ProgramError(program: program, problem: "cannot be started: \(error)")
        }
        process.endInput()
        let deadline = clock.now() + patience
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var problem: String?
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        var open = [process.output, process.errors]
        while !open.isEmpty, problem == nil {
            let left = (deadline - clock.now()).nanoseconds / 1_000_000
            guard left > 0 else {
                problem = "does not answer"
                break
            }
            for end in process.wait(for: open, milliseconds: Int32(clamping: left)) {
                if let count = process.read(end, &piece) {
                    if end == process.output {
                        output += piece.prefix(count)
                    } else {
                        errors += piece.prefix(count)
                    }
                } else {
                    open.removeAll { $0 == end }
                }
            }
            if output.count + errors.count > limit { problem = "writes more than \(limit) bytes" }
        }
        if problem != nil { process.kill() }
        let status = process.end()
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
