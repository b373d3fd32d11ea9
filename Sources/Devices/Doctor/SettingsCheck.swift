import Transport

/// The problems of the settings file, one finding each.
struct SettingsCheck {
    var problems: [String]
    /// The faults that the recorder shows. For example, only the recorder detects a cutoff that is too high for the
    /// card's rate.
    var faults: [Fault]
    /// Settings that may be intended, one sentence each.
    var warnings: [String] = []

    var findings: [Finding] {
        let others = faults.map(\.message).filter { message in !problems.contains { message.hasPrefix($0) } }
        let wrong = (problems + others).map { Finding.failure(.settings, $0, exitStatus: Verdict.settings) }
        let found = wrong + warnings.map { .warning(.settings, $0) }
        return found.isEmpty ? [.ok(.settings, "nothing is wrong with the settings")] : found
    }
}
