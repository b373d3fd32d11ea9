package import Takes

/// What is kept of the acceptance of a kit.
package struct AcceptanceReport: Encodable, Equatable, Sendable {
    /// When it began, by the kit's clock.
    package var date: String
    /// What the kit is called.
    package var kit: String
    /// Of Fieldfare.
    package var version: String
    /// The machine, as the kernel names it; nil: it does not.
    package var model: String?
    /// In the order in which they were made.
    package var checks: [AcceptanceCheck]
    /// The exit status of the first check that failed; 0: none did; 75: nothing was checked.
    package var exitStatus: Int32 {
        let isChecked = checks.contains { $0.outcome != .skipped }
        return isChecked ? checks.exitStatus : 75
    }

    /// A report.
    package init(at time: WallTime, kit: String, version: String, model: String?, checks: [AcceptanceCheck]) {
        date = time.iso8601
        self.kit = kit
        self.version = version
        self.model = model
        self.checks = checks
    }

    /// The report for a person, with a line break at its end.
    package var text: String {
        let counts = [AcceptanceCheck.Outcome.ok, .warning, .failed, .skipped].compactMap { outcome -> String? in
            let count = checks.count { $0.outcome == outcome }
            return count == 0 ? nil : "\(count) \(outcome.rawValue)"
        }
        var lines = [
            "Fieldfare acceptance report", "", "date     \(date)", "kit      \(kit)", "version  \(version)",
            "model    \(model ?? "unknown")",
            "result   \(counts.isEmpty ? "nothing was checked" : counts.joined(separator: ", "))", "",
        ]
        for check in checks {
            lines.append(check.line)
            let figures = check.figures.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }
            if !figures.isEmpty { lines.append("         " + figures.joined(separator: " ")) }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private enum CodingKeys: String, CodingKey {
        case date, kit, version, model, checks
        case exitStatus = "exit_status"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(date, forKey: .date)
        try container.encode(kit, forKey: .kit)
        try container.encode(version, forKey: .version)
        try container.encode(model, forKey: .model)
        try container.encode(checks, forKey: .checks)
        try container.encode(exitStatus, forKey: .exitStatus)
    }
}

extension AcceptanceCheck {
    /// One line for a person.
    package var line: String {
        let padding = String(repeating: " ", count: max(1, 9 - outcome.rawValue.count))
        return "\(outcome.rawValue)\(padding)\(part.rawValue) \(subject): \(message)"
    }
}

extension Figure {
    /// Without a space, so that figures stand side by side.
    fileprivate var text: String {
        switch self {
        case .number(let number): rounded(number)
        case .text(let text): text.split(separator: " ").joined(separator: "_")
        case .unknown: "unknown"
        }
    }
}
