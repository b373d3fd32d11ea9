import Transport

/// What is wrong with the settings file, a finding each.
struct SettingsCheck {
    /// A sentence for each problem of the file.
    var problems: [String]
    /// What the recorder shows: a cutoff that the card's rate cannot have is known to nobody else.
    var faults: [Fault]

    var findings: [Finding] {
        let others = faults.map(\.message).filter { message in !problems.contains { message.hasPrefix($0) } }
        let wrong = (problems + others).map { Finding.failure(.settings, $0, exitStatus: Verdict.settings) }
        return wrong.isEmpty ? [.ok(.settings, "nothing is wrong with the settings")] : wrong
    }
}
