/// One check of a new kit, as its acceptance report contains it.
public struct AcceptanceCheck: Encodable, Hashable, Sendable {
    /// The order of the cases is the order of the report.
    public enum Part: String, Encodable, CaseIterable, Sendable {
        /// Only problems of the settings are reported.
        case settings
        case buttons, lamps, microphone, card
    }

    public enum Outcome: String, Encodable, Sendable {
        case ok
        /// It may be intended, and a person should check it.
        case warning
        case failed
        case skipped
    }

    public var part: Part
    /// The button, lamp or channel that was checked.
    public var subject: String
    public var outcome: Outcome
    /// One sentence, with advice if something is wrong.
    public var message: String
    /// The exit status of a command that ends because of this, from `sysexits.h`; 0 unless the check failed.
    public var exitStatus: Int32
    /// The measured values. Their names end in their units.
    public var figures: [String: Figure]

    /// - Parameter exitStatus: the exit status if the check failed; ignored for other outcomes.
    public init(
        _ part: Part, _ subject: String, _ outcome: Outcome, _ message: String, exitStatus: Int32 = 74,
        _ figures: [String: Figure] = [:]
    ) {
        self.part = part
        self.subject = subject
        self.outcome = outcome
        self.message = message
        self.exitStatus = outcome == .failed ? exitStatus : 0
        self.figures = figures
    }

    enum CodingKeys: String, CodingKey {
        case part, subject, outcome, message, figures
        case exitStatus = "exit_status"
    }
}

extension AcceptanceCheck {
    init(_ part: Part, _ subject: String, _ finding: Finding) {
        let outcome: Outcome =
            switch finding.severity {
            case .ok: .ok
            case .warning: .warning
            case .failure: .failed
            }
        self.init(part, subject, outcome, finding.message, exitStatus: finding.exitStatus, finding.figures)
    }
}

extension [AcceptanceCheck] {
    /// The exit status of the first failed check, or 0 if none failed.
    public var exitStatus: Int32 { first { $0.exitStatus != 0 }?.exitStatus ?? 0 }
}
