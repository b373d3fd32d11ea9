/// What a check-up found of one subject: one sentence, with what to do where something is wrong.
public struct Finding: Codable, Hashable, Sendable {
    /// What was examined.
    public var subject: Subject
    /// How bad it is.
    public var severity: Severity
    /// One sentence.
    public var message: String
    /// The exit status of a command that ends because of this, after `sysexits.h`; 0 unless it is a failure.
    public var exitStatus: Int32
    /// What was measured, by names that end in their units.
    public var figures: [String: Figure]

    /// What is examined, in the order of the report.
    public enum Subject: String, Codable, CaseIterable, Sendable {
        case settings
        /// Whether the recorder runs.
        case service
        /// What the user may do.
        case rights
        case card
        /// The card's sound.
        case signal
        case buttons, lamps
        /// How much can still be recorded.
        case space
        /// Whether the storage is fast enough.
        case storage
        case clock
        /// Other programs that take cards.
        case programs
        /// The supply voltage.
        case power
    }

    /// How bad a finding is.
    public enum Severity: String, Codable, Sendable {
        case ok
        /// May be intended: a person should check it.
        case warning
        /// To be repaired before the kit is used.
        case failure
    }

    /// A subject without a problem.
    public static func ok(_ subject: Subject, _ message: String, _ figures: [String: Figure] = [:]) -> Finding {
        Finding(subject: subject, severity: .ok, message: message, exitStatus: 0, figures: figures)
    }

    /// Something that may be intended, or not.
    public static func warning(_ subject: Subject, _ message: String, _ figures: [String: Figure] = [:]) -> Finding {
        Finding(subject: subject, severity: .warning, message: message, exitStatus: 0, figures: figures)
    }

    /// A problem.
    /// - Parameter exitStatus: after `sysexits.h`; 74 (input/output) unless another status is more exact.
    public static func failure(
        _ subject: Subject, _ message: String, exitStatus: Int32 = 74, _ figures: [String: Figure] = [:]
    ) -> Finding {
        Finding(subject: subject, severity: .failure, message: message, exitStatus: exitStatus, figures: figures)
    }

    enum CodingKeys: String, CodingKey {
        case subject, severity, message, figures
        case exitStatus = "exit_status"
    }
}

/// The exit statuses of failures, after `sysexits.h`.
enum Verdict {
    /// A wrong date makes the data of every take wrong.
    static let clock: Int32 = 65
    static let busy: Int32 = 75
    static let denied: Int32 = 77
    static let settings: Int32 = 78
}

extension [Finding] {
    /// In the order of the report.
    public var inOrder: [Finding] {
        Finding.Subject.allCases.flatMap { subject in filter { $0.subject == subject } }
    }

    /// The exit status of the first failure in that order; 0 if there is none.
    public var exitStatus: Int32 {
        inOrder.first { $0.exitStatus != 0 }?.exitStatus ?? 0
    }
}
