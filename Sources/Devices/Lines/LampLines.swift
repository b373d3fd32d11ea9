import Glibc

/// A period of light or darkness of a lamp that the kernel drives.
public struct LampSegment: Equatable, Sendable {
    public var isLit: Bool
    /// In whole milliseconds; the rest is ignored.
    public var length: Duration

    public init(isLit: Bool, length: Duration) {
        self.isLit = isLit
        self.length = length
    }
}

/// Lamps on lines or LED devices. All are switched off when this goes out of scope, because a real line keeps its level
/// after its owner has ended.
public struct LampLines: ~Copyable {
    private let outputs: [LampOutput?]
    private let ledDirectory: String
    private let calls: GPIOCalls
    private let ledCalls: LEDCalls
    private var lamps: [Lamp?]

    private struct Lamp {
        let output: Output
        /// Nil if it is not known.
        var isLit: Bool? = false
        var hasFailed = false
    }

    private enum Output {
        case line(OpenLine)
        case led(ClassLED)
    }

    /// Opens as many lamps as possible, switched off. Afterwards, a lamp is identified by its index in `opening`.
    /// - Parameters:
    ///   - opening: nil leaves an index without a lamp.
    ///   - errors: receives one error for each problem.
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

    /// The indices whose lamp is not open.
    public var missing: [Int] { outputs.indices.filter { outputs[$0] != nil && lamps[$0] == nil } }

    /// Opens the missing lamps, switched off.
    /// - Returns: one error for each problem.
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

    /// Hands a lamp over to the kernel, which repeats the segments after this process has ended. Only LED devices
    /// support this; a lamp on a line does not change, and is switched off at the end.
    /// - Parameter mayBlink: whether the lamp may blink regularly if the kernel cannot repeat segments.
    /// - Returns: the error, if any.
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

    /// Whether a lamp is open and accepted its last value.
    public func works(_ index: Int) -> Bool {
        lamps[index].map { !$0.hasFailed } ?? false
    }

    /// Switches a lamp on or off. Nothing is written if the lamp is already in that state. An index without a lamp is
    /// ignored.
    /// - Returns: the error. It is returned once until the lamp works again, but each call retries. A lamp that has
    ///   disappeared is released.
    public mutating func set(_ index: Int, _ isLit: Bool) -> LineError? {
        lamps[index]?.isLit == isLit ? nil : write(index, isLit)
    }

    /// Writes each lamp's state again, which detects lamps that have disappeared. It must be called from time to time.
    /// - Returns: errors as `set` returns them.
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
