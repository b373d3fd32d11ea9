import Glibc
import Takes

/// One function for each call on an LED device's files, so that each can be made to fail in tests.
struct LEDCalls {
    var open: (_ path: String, _ flags: Int32) throws(CallError) -> Int32 = { path, flags throws(CallError) in
        try check { unsafe Glibc.open(path, flags | O_CLOEXEC) }
    }
    /// Writes a text at the file's beginning.
    var write: (Int32, String) throws(CallError) -> Void = { descriptor, text throws(CallError) in
        _ = try check { Int32(unsafe pwrite(descriptor, text, text.utf8.count, 0)) }
    }
    /// Reads at most 32 bytes of text.
    var read: (Int32) throws(CallError) -> String = { descriptor throws(CallError) in
        var bytes: [UInt8] = Array(repeating: 0, count: 32)
        let count = try check { Int32(unsafe pread(descriptor, &bytes, 32, 0)) }
        return String(decoding: bytes.prefix(Int(count)), as: UTF8.self)
    }
    var close: (Int32) -> Void = { _ = Glibc.close($0) }
}

/// A device of the kernel's LED class. Only this process drives it: its trigger is removed and not restored. The LED is
/// switched off when the last reference is released. It is a class because arrays cannot contain noncopyable values.
final class ClassLED {
    static let directory = "/sys/class/leds"

    let subject: String
    private let device: String
    private let path: String
    private let lit: String
    private let calls: LEDCalls
    private let descriptor: Int32
    private var isLeft = false

    /// Takes control of a device and switches it off.
    init(_ name: String, in directory: String, _ calls: LEDCalls) throws(Failure) {
        let names = Directory.names(in: directory)
        guard names.contains(name) else { throw Failure(problem: .noSuchLED(directory: directory, among: names)) }
        device = "\(directory)/\(name)"
        try Self.with("\(device)/trigger", O_WRONLY, calls) { descriptor throws(CallError) in
            try calls.write(descriptor, "none\n")
        }
        let most = try Self.with("\(device)/max_brightness", O_RDONLY, calls, calls.read)
        path = "\(device)/brightness"
        lit = String(most.prefix { $0.isNumber })
        do throws(CallError) {
            descriptor = try uninterrupted { [path] () throws(CallError) in try calls.open(path, O_WRONLY) }
        } catch {
            throw Failure(problem: .led(path: path, code: error.code))
        }
        subject = name
        self.calls = calls
        try set(false)
    }

    deinit {
        if !isLeft { try? set(false) }
        calls.close(descriptor)
    }

    /// Starts the kernel's pattern trigger, which repeats the segments after this process has ended. The kernel creates
    /// the trigger's files together with the trigger, writable only by root.
    /// - Parameter mayBlink: whether the device may blink regularly with the timer trigger if the kernel has no pattern
    ///   trigger.
    func leave(_ segments: [LampSegment], mayBlink: Bool) throws(Failure) {
        do throws(Failure) {
            try setTrigger("pattern")
        } catch {
            // The kernel's answer for a trigger that it does not have.
            guard mayBlink, error.problem == .led(path: triggerPath, code: EINVAL) else { throw error }
            try setTrigger("timer")
            for (file, length) in [("delay_on", Self.blink.lit), ("delay_off", Self.blink.dark)] {
                try Self.with("\(device)/\(file)", O_WRONLY, calls) { descriptor throws(CallError) in
                    try calls.write(descriptor, "\(length)\n")
                }
            }
            isLeft = true
            return
        }
        // The trigger fades from each brightness to the next during the given time. A second entry with time 0 makes
        // the change immediate.
        let steps = segments.map { segment in
            let brightness = segment.isLit ? lit : "0"
            return "\(brightness) \(segment.length.nanoseconds / 1_000_000) \(brightness) 0"
        }
        try Self.with("\(device)/pattern", O_WRONLY, calls) { descriptor throws(CallError) in
            try calls.write(descriptor, steps.joined(separator: " ") + "\n")
        }
        isLeft = true
    }

    /// The regular blinking, in milliseconds.
    private static let blink = (lit: 200, dark: 300)

    private var triggerPath: String { "\(device)/trigger" }

    private func setTrigger(_ name: String) throws(Failure) {
        try Self.with(triggerPath, O_WRONLY, calls) { descriptor throws(CallError) in
            try calls.write(descriptor, name + "\n")
        }
    }

    func set(_ isLit: Bool) throws(Failure) {
        do throws(CallError) {
            try uninterrupted { () throws(CallError) in try calls.write(descriptor, (isLit ? lit : "0") + "\n") }
        } catch {
            throw Failure(problem: .led(path: path, code: error.code))
        }
    }

    struct Failure: Error {
        var problem: LineError.Problem
    }

    private static func with<Value>(
        _ path: String, _ flags: Int32, _ calls: LEDCalls, _ body: (Int32) throws(CallError) -> Value
    ) throws(Failure) -> Value {
        do throws(CallError) {
            let descriptor = try uninterrupted { () throws(CallError) in try calls.open(path, flags) }
            defer { calls.close(descriptor) }
            return try uninterrupted { () throws(CallError) in try body(descriptor) }
        } catch {
            throw Failure(problem: .led(path: path, code: error.code))
        }
    }
}
