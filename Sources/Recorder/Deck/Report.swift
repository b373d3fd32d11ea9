/// One sentence for the log.
public struct Report: Hashable, Sendable {
    /// How much it matters.
    public var severity: Severity
    /// The sentence.
    public var message: String

    /// How much a report matters; the values are those of syslog(3).
    public enum Severity: Int, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
    }

    /// A sentence of a severity.
    public init(_ severity: Severity, _ message: String) {
        self.severity = severity
        self.message = message
    }

    /// A time as it is read, `6.86 s`.
    static func seconds(_ seconds: Double) -> String {
        let hundredths = Int64((max(0, min(seconds, 1e12)) * 100).rounded())
        return "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10) s"
    }
}
