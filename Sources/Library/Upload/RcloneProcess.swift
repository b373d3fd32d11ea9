import Programs
import Takes

/// A child process that runs rclone. One thread starts it, exchanges its data and waits for its end.
actor RcloneProcess {
    /// The exit status, and the standard error output.
    struct Ended: Sendable {
        /// The exit status, or −1 if a signal ended the process.
        var status: Int32
        /// The end of the output, as text.
        var errors: String
    }

    typealias Input = ([UInt8]) async throws -> Void

    private let child: ChildProcess
    private let thread: DiskReader
    /// The child's output and errors, as far as the child has not closed them.
    private var openEnds: [Int32]
    private var errors: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    private static let longestErrors = 16 << 10
    /// The time between looks whether the program has ended, while it sends nothing.
    private static let lookMilliseconds: Int32 = 1000

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.unownedExecutor }

    /// The program ended or closed its input. Its exit status says why.
    private struct InputClosed: Error {}

    /// Runs a program to its end. The program is killed if the task is cancelled, or a closure throws.
    /// - Parameters:
    ///   - thread: runs all calls that may wait.
    ///   - send: writes the program's input. The program must not write output before it has read all input. If `send`
    ///     throws, the program is killed before its input ends, so that it does not treat a part as the whole.
    ///   - receive: receives the program's output.
    /// - Throws: `StoreError`, `.refused` if the program cannot be started; the errors of the closures.
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String], on thread: DiskReader,
        send: ((Input) async throws -> Void)? = nil, receive: ([UInt8]) async throws -> Void
    ) async throws -> Ended {
        try Task.checkCancellation()
        let child: ChildProcess
        do {
            child = try await thread.perform { _ in
                try ChildProcess(program, arguments, environment: environment)
            }
        } catch let error as SystemError {
            throw StoreError(.refused, "outbox: \(program): cannot be started: \(error)")
        }
        let process = RcloneProcess(child, on: thread)
        return try await withTaskCancellationHandler {
            var failure: (any Error)?
            do {
                do {
                    try await send? { bytes in try await process.write(bytes) }
                } catch is InputClosed {}
                child.endInput()
                while true {
                    let piece = await process.read()
                    guard !piece.isEmpty else { break }
                    try await receive(piece)
                }
            } catch {
                child.kill()
                failure = error
            }
            let ended = await process.end()
            try Task.checkCancellation()
            if let failure { throw failure }
            return ended
        } onCancel: {
            child.kill()
        }
    }

    private init(_ child: ChildProcess, on thread: DiskReader) {
        self.child = child
        self.thread = thread
        // Errors are read first, because output without a pause would delay them.
        openEnds = [child.errors, child.output]
    }

    private func write(_ bytes: [UInt8]) throws(InputClosed) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // A program that rclone started may run on and keep the input open.
            guard !child.hasEnded else { throw InputClosed() }
            let ends = openEnds.filter { $0 == child.errors } + [child.input]
            for end in child.wait(for: ends, milliseconds: Self.lookMilliseconds) {
                guard end == child.input else {
                    _ = read(end)
                    continue
                }
                guard let count = child.write(rest) else { throw InputClosed() }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// - Returns: the next bytes of the output; empty once the child has ended, or has closed its output and errors.
    private func read() -> [UInt8] {
        while !openEnds.isEmpty {
            let ended = child.hasEnded
            let ready = child.wait(for: openEnds, milliseconds: ended ? 0 : Self.lookMilliseconds)
            // A program that rclone started, such as `ssh`, may run on and keep the ends open.
            if ended, ready.isEmpty { break }
            for end in ready {
                let bytes = read(end)
                if end == child.output, !bytes.isEmpty { return bytes }
            }
        }
        return []
    }

    /// Reads from a ready end. Of the errors, the last `longestErrors` bytes are kept.
    private func read(_ end: Int32) -> [UInt8] {
        guard let count = child.read(end, &buffer) else {
            openEnds.removeAll { $0 == end }
            return []
        }
        if end == child.errors { errors = (errors + buffer[..<count]).suffix(Self.longestErrors) }
        return Array(buffer[..<count])
    }

    private func end() -> Ended {
        Ended(status: child.end() ?? -1, errors: String(decoding: errors, as: UTF8.self))
    }
}
