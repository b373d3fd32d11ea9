import Takes

/// A condition on several keys together.
struct Rule: Sendable {
    /// The first of these that the file sets is reported and gets its default.
    let paths: [any PartialKeyPath<Settings> & Sendable]
    let isKept: @Sendable (Settings) -> Bool
    /// The allowed values, for people.
    let permission: @Sendable (Settings) -> String

    init(
        _ paths: any PartialKeyPath<Settings> & Sendable..., isKept: @escaping @Sendable (Settings) -> Bool,
        permission: @escaping @Sendable (Settings) -> String
    ) {
        self.paths = paths
        self.isKept = isKept
        self.permission = permission
    }

    /// A store with its required keys.
    init(
        _ store: Settings.Outbox.Store, needs paths: any KeyPath<Settings, String?> & Sendable...
    ) {
        self.init(\.outbox.stores) { settings in
            !settings.outbox.stores.contains(store) || paths.allSatisfy { settings[keyPath: $0] != nil }
        } permission: { settings in
            let missing = paths.filter { settings[keyPath: $0] == nil }.map { SettingsSchema.name(of: $0) }
            return "allowed is \(quoted(store.rawValue)) only with \(missing.joined(separator: " and "))"
        }
    }

    /// Whether one folder is equal to or inside the other, by their text.
    static func overlap(_ first: String, _ second: String) -> Bool {
        let (first, second) = (parts(of: first), parts(of: second))
        return first.starts(with: second) || second.starts(with: first)
    }

    private static func parts(of path: String) -> [Substring] {
        path.split(separator: "/").filter { $0 != "." }
    }
}

extension SettingsSchema {
    static let rules: [Rule] = [
        Rule(\.capture.preRoll, \.capture.standby) {
            $0.capture.preRoll == .zero || $0.capture.standby == .listening
        } permission: { _ in
            "allowed above 0 only with \(name(of: \Settings.capture.standby)) = \"listening\""
        },
        Rule(\.filter.request.highPass, \.filter.request.lowPass) {
            guard case .hertz(let low) = $0.filter.request.lowPass, case .hertz(let high) = $0.filter.request.highPass
            else { return true }
            return high < low
        } permission: { _ in
            let (high, low) = (\Settings.filter.request.highPass, \Settings.filter.request.lowPass)
            return "allowed is \(name(of: high)) below \(name(of: low))"
        },
        Rule(\.takes.newTakeEvery, \.takes.longest) {
            $0.takes.longest == .zero || $0.takes.newTakeEvery < $0.takes.longest
        } permission: { _ in
            let (every, longest) = (\Settings.takes.newTakeEvery, \Settings.takes.longest)
            return "allowed is \(name(of: every)) below \(name(of: longest)), or one of them 0"
        },
        Rule(\.panel.shutdownHold, \.panel.hold) {
            $0.panel.hold < $0.panel.shutdownHold
        } permission: { _ in
            let (hold, shutdown) = (\Settings.panel.hold, \Settings.panel.shutdownHold)
            return "allowed is \(name(of: shutdown)) above \(name(of: hold))"
        },
        Rule(\.power.lowVolts) {
            $0.power.lowVolts == nil || $0.power.supply != nil
        } permission: { _ in
            "allowed is a voltage only with \(name(of: \Settings.power.supply))"
        },
        Rule(\.schedule.isOffBetween) {
            let (schedule, window) = ($0.schedule, $0.outbox.window)
            return !schedule.isOffBetween || schedule.record.isEmpty
                || (0..<1440).contains { minute in
                    window.contains(minuteOfDay: minute)
                        && schedule.record.contains { $0.contains(minuteOfDay: minute) }
                }
        } permission: { _ in
            let (window, record) = (\Settings.outbox.window, \Settings.schedule.record)
            return "allowed is true only if \(name(of: window)) and \(name(of: record)) overlap: "
                + "otherwise the kit is off when it may send"
        },
        Rule(.s3, needs: \.outbox.s3.bucket),
        Rule(.firebase, needs: \.outbox.firebase.bucket),
        Rule(.webdav, needs: \.outbox.webdav.url),
        Rule(.sftp, needs: \.outbox.sftp.url),
        Rule(.folder, needs: \.outbox.folder.path),
        Rule(\.outbox.stores) { settings in
            guard settings.outbox.stores.contains(.folder), let path = settings.outbox.folder.path else { return true }
            return !Rule.overlap(path, settings.takes.folder)
        } permission: { _ in
            let (path, takes) = (\Settings.outbox.folder.path, \Settings.takes.directory)
            return
                "allowed is \"folder\" only with \(name(of: path)) apart from \(name(of: takes)): neither may lie in the other"
        },
        Rule(.rclone, needs: \.outbox.rclone.remote),
    ]
}

extension SettingsReader {
    /// Checks the settings against each rule.
    mutating func apply(_ rules: [Rule], to settings: inout Settings) {
        for rule in rules where !rule.isKept(settings) {
            if let node = rule.paths.compactMap({ understood[$0] }).first {
                report(node, "found \(found(node)): \(rule.permission(settings))")
            }
            for path in rule.paths where !rule.isKept(settings) {
                SettingsSchema.reset(path, in: &settings)
                forget(path)
            }
        }
    }
}
