/// One check of a new kit, as the report of its acceptance has it.
public struct AcceptanceCheck: Encodable, Hashable, Sendable {
    /// What was checked, in the order of the report.
    public enum Part: String, Encodable, CaseIterable, Sendable {
        /// Only what is wrong with them.
        case settings
        case buttons, lamps, microphone, card
    }

    /// What came of it.
    public enum Outcome: String, Encodable, Sendable {
        case ok
        /// May be intended: a person should check it.
        case warning
        case failed
        /// It was not done.
        case skipped
    }

    /// What was checked.
    public var part: Part
    /// Which of it: a button, a lamp, a channel.
    public var subject: String
    /// What came of it.
    public var outcome: Outcome
    /// One sentence, with what to do where something is wrong.
    public var message: String
    /// The exit status of a command that ends because of this, after `sysexits.h`; 0 unless it failed.
    public var exitStatus: Int32
    /// What was measured, by names that end in their units.
    public var figures: [String: Figure]

    /// A check.
    /// - Parameter exitStatus: what counts if it failed.
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
    /// What a check-up found, as a check of an acceptance.
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
    /// The exit status of the first one that failed; 0 if none did.
    public var exitStatus: Int32 { first { $0.exitStatus != 0 }?.exitStatus ?? 0 }
}
