import Glibc

/// Checks whether the recorder has the rights that it needs.
struct RightsCheck {
    var rights: Rights
    /// Whether these are the recorder's own rights. A person may have fewer rights, because the service has its own.
    var isRecorder: Bool

    var findings: [Finding] {
        var found: [Finding] = []
        for group in Set(closed.map(\.group)).sorted(by: { $0 ?? "" < $1 ?? "" }) {
            let paths = closed.filter { $0.group == group }.map(\.path)
            let list = paths.prefix(2).joined(separator: ", ") + (paths.count > 2 ? " and \(paths.count - 2) more" : "")
            let advice =
                group.map { "add it to the group \($0) (usermod -aG \($0) \(rights.user)), then restart" }
                ?? "only root may: install the udev rules of Fieldfare"
            let sentence = "user \(rights.user) may not use \(list): \(advice)"
            // The recorder may not need all of them. The findings for card and buttons name those that it cannot use.
            let isKindUsable = paths.allSatisfy { path in
                rights.nodes.contains { $0.isUsable && Self.kind($0.path) == Self.kind(path) }
            }
            found.append(isKindUsable ? .warning(.rights, sentence, figures) : complaint(sentence))
        }
        for sentence in rights.missing { found.append(complaint(sentence)) }
        if isRecorder, rights.missing.isEmpty, let policy = rights.capturePolicy, policy != SCHED_FIFO {
            found.append(
                complaint("capture: the thread is not real-time: LimitRTPRIO=60 in the unit grants it"))
        }
        guard found.isEmpty else { return found }
        let capture = rights.capturePolicy == SCHED_FIFO ? ", the capture is real-time" : ""
        return [
            .ok(.rights, "user \(rights.user) may use sound and GPIO, be real-time and lock memory\(capture)", figures)
        ]
    }

    /// Whether the panel has GPIO lines. A simulated panel has no lines.
    var usesLines = true

    private var closed: [Rights.Node] {
        rights.nodes.filter { !$0.isUsable && (usesLines || Self.kind($0.path) != Self.line) }
    }

    private static let line = "line"

    private static func kind(_ path: String) -> String {
        path.hasPrefix("/dev/gpiochip") ? line : "sound"
    }

    private func complaint(_ sentence: String) -> Finding {
        guard !isRecorder else { return .failure(.rights, sentence, exitStatus: Verdict.denied, figures) }
        return .warning(.rights, "\(sentence) (for user \(rights.user): the service has its own rights)", figures)
    }

    private var figures: [String: Figure] {
        [
            "user": .text(rights.user), "groups": .text(rights.groups.joined(separator: " ")),
            "rtprio_limit": .count(rights.realTimeLimit),
            "memlock_limit_bytes": rights.lockLimit.map { .count($0) } ?? .unknown,
            "capture_is_real_time": rights.capturePolicy.map { .text($0 == SCHED_FIFO ? "yes" : "no") } ?? .unknown,
        ]
    }
}
