import CALSA
import Glibc

/// The description is one sentence: `capture: hw:CARD=Mic: cannot open: Device or resource busy (held by pid 812,
/// pulseaudio)`.
public struct SoundCardError: Error, Hashable, CustomStringConvertible {
    public var direction: PCMDirection
    /// The PCM's name, or the card as the settings name it.
    public var subject: String
    /// The operation that failed, as a verb such as `open`. Nil if the card is gone.
    public var operation: String?
    /// The code of `errno(3)`, positive; 0 if no system call failed.
    public var code: Int32
    /// The cause, in the system's words or our own.
    public var reason: String
    /// More detail: ALSA's messages, the process that holds the card, or advice.
    public var detail: String?

    /// An error that no system call reported.
    public init(
        _ subject: String, _ operation: String, reason: String, detail: String? = nil,
        direction: PCMDirection = .capture
    ) {
        self.direction = direction
        self.subject = subject
        self.operation = operation
        self.code = 0
        self.reason = reason
        self.detail = detail
    }

    /// An error that ALSA reported as a negative `status`.
    init(
        _ subject: String, _ operation: String?, status: Int32, detail: String? = nil,
        direction: PCMDirection = .capture
    ) {
        self.direction = direction
        self.subject = subject
        self.operation = operation
        self.code = -status
        // Safe: the string lives as long as the program, or until the next call on this thread.
        self.reason = unsafe String(cString: snd_strerror(status))
        self.detail = detail
    }

    /// Advice for hardware without a supported sample format: ALSA can convert. Nil if `subject` is not hardware.
    static func conversion(of subject: String, setting: String) -> String? {
        subject.hasPrefix("hw:") ? "set \(setting) to \"pcm:plug\(subject)\": ALSA converts its formats then" : nil
    }

    /// Codes that mean that the card itself is gone.
    static let lostCodes: Set<Int32> = [ENODEV, ENOENT, ENXIO, ESHUTDOWN]

    public var description: String {
        "\(direction.heading): \(subject): \(operation.map { "cannot \($0)" } ?? "the card is gone"): \(reason)"
            + (detail.map { " (\($0))" } ?? "")
    }
}

/// Wraps every ALSA call that may fail: a negative status becomes an error, with the messages that ALSA printed.
@discardableResult
func check(
    _ subject: String, _ operation: String, _ direction: PCMDirection = .capture, _ call: () -> Int32
) throws(SoundCardError) -> Int32 {
    Chatter.clear()
    let status = call()
    guard status < 0 else { return status }
    throw SoundCardError(subject, operation, status: status, detail: Chatter.take(), direction: direction)
}
