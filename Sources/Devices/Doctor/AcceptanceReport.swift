package import Takes

/// The stored report of a kit's acceptance.
package struct AcceptanceReport: Encodable, Equatable, Sendable {
    /// When the acceptance began, by the kit's clock, in ISO 8601 format.
    package var date: String
    package var kit: String
    /// The version of Fieldfare.
    package var version: String
    /// The machine's model from the kernel, or nil if it is not known.
    package var model: String?
    /// In chronological order.
    package var checks: [AcceptanceCheck]
    /// The exit status of the first failed check, 0 if none failed, or 75 if nothing was checked.
    package var exitStatus: Int32 {
        let isChecked = checks.contains { $0.outcome != .skipped }
        return isChecked ? checks.exitStatus : 75
    }

    package init(at time: WallTime, kit: String, version: String, model: String?, checks: [AcceptanceCheck]) {
        date = time.iso8601
        self.kit = kit
        self.version = version
        self.model = model
        self.checks = checks
    }

    /// The report for people to read. It ends with a line break.
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
    package var line: String {
        let padding = String(repeating: " ", count: max(1, 9 - outcome.rawValue.count))
        return "\(outcome.rawValue)\(padding)\(part.rawValue) \(subject): \(message)"
    }
}

extension Figure {
    /// Without spaces, because several figures share a line.
    fileprivate var text: String {
        switch self {
        case .number(let number): rounded(number)
        case .text(let text): text.split(separator: " ").joined(separator: "_")
        case .unknown: "unknown"
        }
    }
}
