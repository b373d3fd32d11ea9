import CALSA
import Glibc

/// Something that could not be done with a sound card.
///
/// Its description is one sentence: `capture: hw:CARD=Mic: cannot open: Device or resource busy (held by pid 812,
/// pulseaudio)`.
public struct SoundCardError: Error, Hashable, CustomStringConvertible {
    /// What the card was for.
    public var direction: PCMDirection
    /// What it was attempted on: a PCM's name, or a card as the settings name it.
    public var subject: String
    /// What was attempted, as a verb: `open`; nil: nothing can be attempted any more, the card is gone.
    public var operation: String?
    /// The code of `errno(3)`, positive; 0 where no system call failed.
    public var code: Int32
    /// What happened, in the system's words or ours.
    public var reason: String
    /// More about it: ALSA's messages, who holds the card, what to do.
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
        // Safe: a string that lives as long as the program, or until the next call on this thread.
        self.reason = unsafe String(cString: snd_strerror(status))
        self.detail = detail
    }

    /// What helps where hardware has no sample format of ours: ALSA converts them. Nil where `subject` is no hardware.
    static func conversion(of subject: String, setting: String) -> String? {
        subject.hasPrefix("hw:") ? "set \(setting) to \"pcm:plug\(subject)\": ALSA converts its formats then" : nil
    }

    /// Codes which mean that the card itself is gone.
    static let lostCodes: Set<Int32> = [ENODEV, ENOENT, ENXIO, ESHUTDOWN]

    /// One sentence.
    public var description: String {
        "\(direction.heading): \(subject): \(operation.map { "cannot \($0)" } ?? "the card is gone"): \(reason)"
            + (detail.map { " (\($0))" } ?? "")
    }
}

/// Every call to ALSA that may fail goes through this: a negative status becomes an error, with what ALSA printed meanwhile.
@discardableResult
func check(
    _ subject: String, _ operation: String, _ direction: PCMDirection = .capture, _ call: () -> Int32
) throws(SoundCardError) -> Int32 {
    Chatter.clear()
    let status = call()
    guard status < 0 else { return status }
    throw SoundCardError(subject, operation, status: status, detail: Chatter.take(), direction: direction)
}
