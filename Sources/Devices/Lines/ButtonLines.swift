import Glibc
public import Takes

public struct LineEdge: Hashable, Sendable {
    /// The place of the line among those that were opened.
    public var index: Int
    /// Whether the line is active after the edge. For a button to ground, active means pressed.
    public var isActive: Bool
    public var at: Instant

    public init(index: Int, isActive: Bool, at: Instant) {
        self.index = index
        self.isActive = isActive
        self.at = at
    }
}

/// Lines that are watched for edges through one descriptor. They are released when this goes out of scope.
///
/// Timestamps are on `CLOCK_MONOTONIC`: they are requested from libgpiod 2.x, and are the only ones of 1.x since Linux
/// 5.7.
public struct ButtonLines: ~Copyable {
    /// Readable when edges are queued. It must only be polled, never read. -1 when no line was opened.
    public let fileDescriptor: Int32

    private let calls: GPIOCalls
    private let inputs: [InputLine?]
    private var lines: [OpenLine?]

    /// The largest number of reads of one line in one call, so that a line with constant edges does not block the
    /// others.
    private static let mostReads = 16

    /// Opens as many lines as possible. Afterwards, a line is identified by its index in `opening`.
    /// - Parameters:
    ///   - opening: nil leaves an index without a line.
    ///   - errors: receives one error for each problem.
    public init(opening inputs: [InputLine?], errors: inout [LineError]) {
        self.init(opening: inputs, errors: &errors, calls: GPIOCalls())
    }

    init(opening inputs: [InputLine?], errors: inout [LineError], calls: GPIOCalls) {
        self.init(wiring: inputs, errors: &errors, calls: calls)
        errors += openMissing()
    }

    private init(wiring inputs: [InputLine?], errors: inout [LineError], calls: GPIOCalls) {
        self.calls = calls
        self.inputs = inputs
        lines = inputs.map { _ in nil }
        guard inputs.contains(where: { $0 != nil }) else {
            fileDescriptor = -1
            return
        }
        do throws(CallError) {
            fileDescriptor = try calls.createPoll()
        } catch {
            fileDescriptor = -1
            errors.append(LineError(.buttons, .cannotWait(code: error.code)))
        }
    }

    deinit {
        if fileDescriptor >= 0 { calls.close(fileDescriptor) }
    }

    /// The indices whose line is not open.
    public var missing: [Int] {
        fileDescriptor < 0 ? [] : inputs.indices.filter { inputs[$0] != nil && lines[$0] == nil }
    }

    /// Opens the missing lines, for example those of a chip that appeared late or again.
    /// - Returns: one error for each problem.
    public mutating func openMissing() -> [LineError] {
        var failed: [LineError] = []
        let missing = missing
        guard !missing.isEmpty else { return [] }
        let scan = ChipScan(calls)
        for index in missing {
            guard let input = inputs[index] else { continue }
            let problem: LineError.Problem
            do throws(ChipScan.Missing) {
                let line = try OpenLine(
                    input.address, isOutput: false, activeLow: input.activeLow, pull: input.pull, in: scan, calls)
                do throws(CallError) {
                    try calls.addToPoll(fileDescriptor, line.descriptor, index)
                } catch {
                    throw ChipScan.Missing(problem: .cannotWait(code: error.code))
                }
                lines[index] = line
                continue
            } catch {
                problem = error.problem
            }
            failed.append(LineError(.buttons, input.address.description, index: index, problem))
        }
        return LineError.merged(failed)
    }

    /// Returns the queued edges in chronological order, without blocking.
    ///
    /// A line whose chip disappeared is reported once and released. The kernel keeps 16 edges of a line. Further edges
    /// are lost, and `isActive` is the level after them.
    public mutating func readEdges() -> (edges: [LineEdge], errors: [LineError]) {
        var edges: [LineEdge] = []
        var errors: [LineError] = []
        let reports = (try? uninterrupted { () throws(CallError) in try calls.poll(fileDescriptor) }) ?? []
        for report in reports {
            guard let line = lines[report.index] else { continue }
            var lost: Int32? = report.isGone ? ENODEV : nil
            do throws(CallError) {
                for _ in 0..<Self.mostReads {
                    let read = try line.readEdges()
                    edges += read.map { LineEdge(index: report.index, isActive: $0.isActive, at: $0.at) }
                    if read.count < edgesAtOnce { break }
                }
            } catch {
                if error.code != EAGAIN { lost = error.code }
            }
            if let lost { errors.append(release(line, report.index, lost)) }
        }
        edges.sort { $0.at < $1.at }
        return (edges, LineError.merged(errors))
    }

    /// Mutes a line: its edges neither wake the caller nor are read, but the line stays open.
    ///
    /// It is not released, because only an open line shows when it has come to rest. The kernel keeps 16 of its edges.
    public mutating func mute(_ index: Int) {
        guard let line = lines[index] else { return }
        calls.removeFromPoll(fileDescriptor, line.descriptor)
    }

    /// Discards the edges of a muted line, with a single read.
    /// - Returns: whether there were any edges.
    public mutating func discardEdges(_ index: Int) -> Bool {
        guard let line = lines[index] else { return false }
        return (try? line.readEdges()).map { !$0.isEmpty } ?? false
    }

    /// Unmutes a line.
    /// - Returns: the error, if any; the line is then released.
    public mutating func listen(_ index: Int) -> LineError? {
        guard let line = lines[index] else { return nil }
        do throws(CallError) {
            try calls.addToPoll(fileDescriptor, line.descriptor, index)
            return nil
        } catch {
            lines[index] = nil
            return LineError(.buttons, line.subject, index: index, .cannotWait(code: error.code))
        }
    }

    /// Checks whether the lines still exist, and releases those that do not. Each is reported once.
    ///
    /// This must be called from time to time, because Linux 6.1 wakes no reader when a chip disappears.
    public mutating func check() -> [LineError] {
        var errors: [LineError] = []
        for (index, line) in lines.enumerated() {
            guard let line else { continue }
            do throws(CallError) {
                _ = try line.value()
            } catch {
                errors.append(release(line, index, error.code))
            }
        }
        return LineError.merged(errors)
    }

    private mutating func release(_ line: OpenLine, _ index: Int, _ code: Int32) -> LineError {
        calls.removeFromPoll(fileDescriptor, line.descriptor)
        lines[index] = nil
        return LineError(.buttons, line.subject, index: index, .lost(code: code))
    }

    public func isOpen(_ index: Int) -> Bool { lines[index] != nil }

    /// Whether a line is active now, or nil if it is not open or cannot be read.
    public func isActive(_ index: Int) -> Bool? {
        guard let line = lines[index] else { return nil }
        return try? line.value()
    }
}
