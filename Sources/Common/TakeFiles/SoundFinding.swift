public import Takes

/// The result of comparing an audio file with its sidecar.
public enum SoundFinding: Hashable, Sendable {
    /// The samples are the recorded ones.
    case asRecorded(sha256: String)
    /// The fingerprint is missing. The length and the format are right.
    case unproven(sha256: String)
    case missing
    /// It is not a readable sound file. The text says why.
    case unreadable(String)
    /// Its header states another rate, number of channels or sample format.
    case otherFormat(StreamFormat)
    /// It ends after this number of the frames that its header states.
    case cut(frames: Int64)
    /// Its header states another number of frames.
    case otherLength(frames: Int64)
    /// The samples differ from the recorded ones.
    case differs(sha256: String)

    /// Whether the sound is known to differ from the recorded sound.
    public var isDamage: Bool {
        switch self {
        case .asRecorded, .unproven: false
        case .missing, .unreadable, .otherFormat, .cut, .otherLength, .differs: true
        }
    }

    /// SHA-256 of the samples, if they could be compared.
    public var sha256: String? {
        switch self {
        case .asRecorded(let sha256), .unproven(let sha256), .differs(let sha256): sha256
        case .missing, .unreadable, .otherFormat, .cut, .otherLength: nil
        }
    }

    /// The name of the case, for programs.
    public var name: String {
        switch self {
        case .asRecorded: "as-recorded"
        case .unproven: "unproven"
        case .missing: "missing"
        case .unreadable: "unreadable"
        case .otherFormat: "other-format"
        case .cut: "cut"
        case .otherLength: "other-length"
        case .differs: "differs"
        }
    }

    /// The sentence that follows the file's name in messages.
    public func sentence(_ recorded: RecordedSound) -> String {
        switch self {
        case .asRecorded: "as recorded"
        case .unproven: "has no fingerprint: its length fits, its sound cannot be judged"
        case .missing: "it is missing"
        case .unreadable(let problem): problem
        case .otherFormat(let found):
            "its header says \(found.summary), and \(recorded.format.summary) was recorded"
        case .cut(let frames): "it is cut: it ends after \(frames) of \(recorded.frames) frames"
        case .otherLength(let frames): "its header says \(frames) frames, and \(recorded.frames) were recorded"
        case .differs: "its sound is not what was recorded: the fingerprint differs"
        }
    }
}
