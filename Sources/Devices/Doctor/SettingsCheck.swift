import Transport

/// The problems of the settings file, one finding each.
struct SettingsCheck {
    /// A sentence for each problem of the file.
    var problems: [String]
    /// The faults that the recorder shows: only it knows of a cutoff that is too high for the card's rate.
    var faults: [Fault]
    /// What may be meant so, a sentence each.
    var warnings: [String] = []

    var findings: [Finding] {
        let others = faults.map(\.message).filter { message in !problems.contains { message.hasPrefix($0) } }
        let wrong = (problems + others).map { Finding.failure(.settings, $0, exitStatus: Verdict.settings) }
        let found = wrong + warnings.map { .warning(.settings, $0) }
        return found.isEmpty ? [.ok(.settings, "nothing is wrong with the settings")] : found
    }
}
