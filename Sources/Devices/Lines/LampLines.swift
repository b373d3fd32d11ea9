import Glibc

/// A stretch of light or darkness of a lamp that the kernel drives.
public struct LampSegment: Equatable, Sendable {
    /// Whether the lamp is lit.
    public var isLit: Bool
    /// How long; whole milliseconds count.
    public var length: Duration

    /// The lamp lit or dark for `length`.
    public init(isLit: Bool, length: Duration) {
        self.isLit = isLit
        self.length = length
    }
}

/// Lamps on lines or LED devices. All dark when it goes out of scope: a real line keeps its level when its owner goes.
public struct LampLines: ~Copyable {
    private let outputs: [LampOutput?]
    private let ledDirectory: String
    private let calls: GPIOCalls
    private let ledCalls: LEDCalls
    private var lamps: [Lamp?]

    private struct Lamp {
        let output: Output
        /// Nil when it is not known.
        var isLit: Bool? = false
        var hasFailed = false
    }

    private enum Output {
        case line(OpenLine)
        case led(ClassLED)
    }

    /// Opens what can be opened, dark; lamps are known by their places from then on.
    /// - Parameters:
    ///   - opening: nil leaves a place without a lamp.
    ///   - errors: gets a sentence for each problem.
    ///   - ledDirectory: the directory of the LED devices.
    public init(opening outputs: [LampOutput?], errors: inout [LineError], ledDirectory: String = "/sys/class/leds") {
        self.init(
            opening: outputs, errors: &errors, ledDirectory: ledDirectory, calls: GPIOCalls(), ledCalls: LEDCalls())
    }

    init(
        opening outputs: [LampOutput?], errors: inout [LineError], ledDirectory: String, calls: GPIOCalls,
        ledCalls: LEDCalls
    ) {
        self.init(wiring: outputs, ledDirectory: ledDirectory, calls: calls, ledCalls: ledCalls)
        errors += openMissing()
    }

    private init(wiring outputs: [LampOutput?], ledDirectory: String, calls: GPIOCalls, ledCalls: LEDCalls) {
        self.outputs = outputs
        self.ledDirectory = ledDirectory
        self.calls = calls
        self.ledCalls = ledCalls
        lamps = outputs.map { _ in nil }
    }

    /// The places whose lamp is not open.
    public var missing: [Int] { outputs.indices.filter { outputs[$0] != nil && lamps[$0] == nil } }

    /// Opens what is missing, dark.
    /// - Returns: a sentence for each problem.
    public mutating func openMissing() -> [LineError] {
        var failed: [LineError] = []
        var scan: ChipScan?
        for index in missing {
            switch outputs[index] {
            case .line(let line):
                let known = scan ?? ChipScan(calls)
                scan = known
                do throws(ChipScan.Missing) {
                    lamps[index] = Lamp(
                        output: .line(
                            try OpenLine(
                                line.address, isOutput: true, activeLow: line.activeLow, pull: .none, in: known, calls))
                    )
                } catch {
                    failed.append(LineError(.lamps, line.address.description, index: index, error.problem))
                }
            case .led(let name):
                do throws(ClassLED.Failure) {
                    lamps[index] = Lamp(output: .led(try ClassLED(name, in: ledDirectory, ledCalls)))
                } catch {
                    failed.append(LineError(.lamps, name, index: index, error.problem))
                }
            case nil: break
            }
        }
        return LineError.merged(failed)
    }

    deinit {
        for case .line(let line) in lamps.lazy.compactMap({ $0?.output }) {
            try? line.set(false)
        }
    }

    /// Leaves a lamp to the kernel, which repeats the segments after this process has ended. Only LED devices can do that: a
    /// line stays as it is, and is dark at the end.
    /// - Parameter mayBlink: whether the lamp may blink steadily instead where the kernel cannot repeat segments.
    /// - Returns: what went wrong.
    public mutating func leave(_ index: Int, _ segments: [LampSegment], mayBlink: Bool) -> LineError? {
        guard let lamp = lamps[index], case .led(let led) = lamp.output else { return nil }
        lamps[index] = nil
        do throws(ClassLED.Failure) {
            try led.leave(segments, mayBlink: mayBlink)
            return nil
        } catch {
            return LineError(.lamps, led.subject, index: index, error.problem)
        }
    }

    /// Whether a lamp is open and took the last value that it was given.
    public func works(_ index: Int) -> Bool {
        lamps[index].map { !$0.hasFailed } ?? false
    }

    /// Lights a lamp or puts it out; nothing is written unless that changes something. A place without a lamp is ignored.
    /// - Returns: what went wrong, once until the lamp works again; each call tries again. A lamp that is gone is released.
    public mutating func set(_ index: Int, _ isLit: Bool) -> LineError? {
        lamps[index]?.isLit == isLit ? nil : write(index, isLit)
    }

    /// Writes each lamp's state again, and so finds those that went away: to be called from time to time.
    /// - Returns: what went wrong, as `set` does.
    public mutating func check() -> [LineError] {
        var errors: [LineError] = []
        for (index, lamp) in lamps.enumerated() {
            if let isLit = lamp?.isLit, let error = write(index, isLit) { errors.append(error) }
        }
        return LineError.merged(errors)
    }

    private mutating func write(_ index: Int, _ isLit: Bool) -> LineError? {
        guard var lamp = lamps[index] else { return nil }
        var isGone = false
        defer { lamps[index] = isGone ? nil : lamp }
        let subject: String
        let problem: LineError.Problem
        switch lamp.output {
        case .line(let line):
            do throws(CallError) {
                try line.set(isLit)
                lamp.isLit = isLit
                lamp.hasFailed = false
                return nil
            } catch {
                (subject, problem) = (line.subject, .cannotSet(code: error.code))
                isGone = error.code == ENODEV
            }
        case .led(let led):
            do throws(ClassLED.Failure) {
                try led.set(isLit)
                lamp.isLit = isLit
                lamp.hasFailed = false
                return nil
            } catch {
                (subject, problem) = (led.subject, error.problem)
                if case .led(_, ENODEV) = problem { isGone = true }
            }
        }
        defer { lamp.hasFailed = true }
        lamp.isLit = nil
        return lamp.hasFailed ? nil : LineError(.lamps, subject, index: index, problem)
    }
}
