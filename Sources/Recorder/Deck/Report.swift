public struct Report: Hashable, Sendable {
    public var severity: Severity
    public var message: String

    /// The values are those of syslog(3).
    public enum Severity: Int, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
    }

    public init(_ severity: Severity, _ message: String) {
        self.severity = severity
        self.message = message
    }

    /// A time for people, `6.86 s`.
    static func seconds(_ seconds: Double) -> String {
        let hundredths = Int64((max(0, min(seconds, 1e12)) * 100).rounded())
        return "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10) s"
    }
}
