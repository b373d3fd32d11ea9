import Glibc
public import Takes

/// A change of a watched line's level.
public struct LineEdge: Hashable, Sendable {
    /// Which of the lines that were opened.
    public var index: Int
    /// Whether the line is active from here on: for a button to ground, down.
    public var isActive: Bool
    /// The kernel's timestamp.
    public var at: Instant

    /// A line's level changes at an instant.
    public init(index: Int, isActive: Bool, at: Instant) {
        self.index = index
        self.isActive = isActive
        self.at = at
    }
}

/// Lines that are watched for edges, all through one descriptor. Released when it goes out of scope.
///
/// Timestamps are `CLOCK_MONOTONIC`: requested from libgpiod 2.x, and the only ones of 1.x since Linux 5.7.
public struct ButtonLines: ~Copyable {
    /// Readable when edges wait; to be polled, never read. -1 when no line was opened.
    public let fileDescriptor: Int32

    private let calls: GPIOCalls
    private let inputs: [InputLine?]
    private var lines: [OpenLine?]

    /// At most so many reads of one line at a time, so that one that never rests does not keep the caller from the others.
    private static let mostReads = 16

    /// Opens what can be opened; lines are known by their places from then on.
    /// - Parameters:
    ///   - opening: nil leaves a place without a line.
    ///   - errors: gets a sentence for each problem.
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

    /// The places whose line is not open.
    public var missing: [Int] {
        fileDescriptor < 0 ? [] : inputs.indices.filter { inputs[$0] != nil && lines[$0] == nil }
    }

    /// Opens what is missing, such as the lines of a chip that came late, or came back.
    /// - Returns: a sentence for each problem.
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

    /// The edges that are queued, in the order of their instants; does not block.
    ///
    /// A line whose chip went away is reported once and released.
    /// The kernel keeps 16 edges of a line: more were lost, and `isActive` is the level after them.
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

    /// Mutes a line: its edges neither wake the caller nor are they read, and it stays open.
    ///
    /// It is not released, since only an open line shows when it has come to rest. The kernel keeps 16 of its edges.
    public mutating func mute(_ index: Int) {
        guard let line = lines[index] else { return }
        calls.removeFromPoll(fileDescriptor, line.descriptor)
    }

    /// Discards the edges of a muted line, with a single read.
    /// - Returns: whether there were any.
    public mutating func discardEdges(_ index: Int) -> Bool {
        guard let line = lines[index] else { return false }
        return (try? line.readEdges()).map { !$0.isEmpty } ?? false
    }

    /// Ends the muting of a line.
    /// - Returns: what went wrong: the line is then released.
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

    /// Checks whether the lines are still there, and releases those that are not; each is reported once.
    ///
    /// To be called from time to time: Linux 6.1 wakes no reader when a chip goes away.
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

    /// Whether a line is open.
    public func isOpen(_ index: Int) -> Bool { lines[index] != nil }

    /// Whether a line is active right now; nil when it is not open or cannot be read.
    public func isActive(_ index: Int) -> Bool? {
        guard let line = lines[index] else { return nil }
        return try? line.value()
    }
}
