import Doctor

/// A finding as one line for a person.
struct DoctorText {
    var isColoured: Bool

    func line(_ finding: Finding) -> String {
        let (word, colour) =
            switch finding.severity {
            case .ok: ("ok", 32)
            case .warning: ("warn", 33)
            case .failure: ("FAIL", 31)
            }
        let padding = String(repeating: " ", count: 6 - word.count)
        let severity = isColoured ? "\u{1B}[\(colour)m\(word)\u{1B}[0m" : word
        let subject = finding.subject.rawValue
        return severity + padding + subject + String(repeating: " ", count: 10 - subject.count) + finding.message
    }
}
