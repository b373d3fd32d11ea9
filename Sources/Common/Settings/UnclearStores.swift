extension Settings.Outbox {
    /// The kinds of stores whose settings may differ from the intended ones, with the reason: a key of their section,
    /// or one that may belong there, is not understood.
    /// - Parameter isWhole: whether all problems of the file are listed.
    static func unclear(_ problems: [SettingsProblem], isWhole: Bool) -> [Store: String] {
        var found: [Store: String] = [:]
        for problem in problems {
            for kind in kinds(problem) where found[kind] == nil { found[kind] = problem.description }
        }
        guard !isWhole, let last = problems.last else { return found }
        for kind in Store.allCases where found[kind] == nil { found[kind] = last.description }
        return found
    }

    /// The kinds of stores that a problem may concern.
    private static func kinds(_ problem: SettingsProblem) -> [Store] {
        guard let key = problem.key, !SettingsSchema.isCommonToStores(key) else { return [] }
        let parts = key.split(separator: ".")
        guard parts.first == "outbox" else {
            return parts.last.flatMap { ["endpoint"].nearest(to: String($0)) } == nil ? [] : [.s3, .firebase]
        }
        guard parts.count > 1, let kind = Store(rawValue: String(parts[1])) else { return Store.allCases }
        return [kind]
    }
}

extension SettingsSchema {
    /// Whether it is a key of `[outbox]` itself. These do not describe a store.
    fileprivate static func isCommonToStores(_ key: String) -> Bool {
        key.split(separator: ".").count == 2 && key.hasPrefix("outbox.") && assignments.contains { $0.name == key }
    }
}
