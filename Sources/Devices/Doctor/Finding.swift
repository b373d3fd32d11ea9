/// The result of a check-up for one subject: one sentence, with advice if something is wrong.
public struct Finding: Codable, Hashable, Sendable {
    public var subject: Subject
    public var severity: Severity
    public var message: String
    /// The exit status of a command that ends because of this, from `sysexits.h`; 0 unless it is a failure.
    public var exitStatus: Int32
    /// The measured values. Their names end in their units.
    public var figures: [String: Figure]

    /// The order of the cases is the order of the report.
    public enum Subject: String, Codable, CaseIterable, Sendable {
        case settings
        case service
        case rights
        case card
        case signal
        case buttons, lamps
        /// How long the free space lasts.
        case space
        /// The speed and the rights of the storage.
        case storage
        case clock
        /// Other programs that open sound cards.
        case programs
        /// The supply voltage and the temperature.
        case power
    }

    public enum Severity: String, Codable, Sendable {
        case ok
        /// It may be intended, and a person should check it.
        case warning
        /// It must be repaired before the kit is used.
        case failure
    }

    public static func ok(_ subject: Subject, _ message: String, _ figures: [String: Figure] = [:]) -> Finding {
        Finding(subject: subject, severity: .ok, message: message, exitStatus: 0, figures: figures)
    }

    public static func warning(_ subject: Subject, _ message: String, _ figures: [String: Figure] = [:]) -> Finding {
        Finding(subject: subject, severity: .warning, message: message, exitStatus: 0, figures: figures)
    }

    /// - Parameter exitStatus: a status of `sysexits.h`; 74 (input/output) unless another status is more exact.
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

/// The exit statuses of failures, from `sysexits.h`.
enum Verdict {
    /// A wrong date makes the data of every take wrong.
    static let clock: Int32 = 65
    static let busy: Int32 = 75
    static let denied: Int32 = 77
    static let settings: Int32 = 78
}

extension [Finding] {
    public var inOrder: [Finding] {
        Finding.Subject.allCases.flatMap { subject in filter { $0.subject == subject } }
    }

    /// The exit status of the first failure in the order of the report, or 0 without a failure.
    public var exitStatus: Int32 {
        inOrder.first { $0.exitStatus != 0 }?.exitStatus ?? 0
    }
}
