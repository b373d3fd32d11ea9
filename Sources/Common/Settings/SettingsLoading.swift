import Glibc

extension Settings {
    public static let defaultPath = "/etc/fieldfare/fieldfare.toml"

    /// The absolute path of a settings file that a person named, or `defaultPath` if nil. A relative path counts from
    /// the current folder.
    public static func absolutePath(_ path: String?) -> String {
        guard let path else { return defaultPath }
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        // Safe: the C library made this copy for the caller.
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }

    /// Reads the settings file at `path`, or the one at `defaultPath` if nil. The latter may be missing.
    ///
    /// There are always settings: valid keys are in force, the others have their defaults, and a panel line that is not
    /// understood is nil. The problems are in the order of the file.
    public static func load(from path: String?) -> (settings: Settings, problems: [SettingsProblem]) {
        load(from: path, default: defaultPath)
    }

    /// Reads settings from the text of a file whose path is `file`, as `load` does.
    public static func parse(_ text: String, file: String) -> (settings: Settings, problems: [SettingsProblem]) {
        parse(Array(text.utf8), file: file)
    }

    static func load(from path: String?, default defaultPath: String) -> (Settings, [SettingsProblem]) {
        let file = path ?? defaultPath
        do throws(SettingsFile.Failure) {
            return parse(try SettingsFile.bytes(at: file), file: file)
        } catch {
            let isMissing = error.code == SettingsFile.missing
            return (Settings(), path == nil && isMissing ? [] : [.unreadable(file: file, error.text)])
        }
    }

    static func parse(_ bytes: [UInt8], file: String) -> (settings: Settings, problems: [SettingsProblem]) {
        var settings = Settings()
        do throws(TOMLDocument.Failure) {
            var reader = SettingsReader(document: try TOMLDocument(bytes), file: file)
            reader.read(into: &settings)
            let places = { (problem: SettingsProblem) in (problem.line ?? 0, problem.column ?? 0) }
            var problems = reader.problems.sorted { places($0) < places($1) }
            let unlisted = reader.problemCount - problems.count
            settings.outbox.unclear = Settings.Outbox.unclear(problems, isWhole: unlisted == 0)
            if unlisted > 0, let last = problems.last {
                problems.append(
                    SettingsProblem(
                        file: file, line: last.line, column: last.column,
                        message: "\(unlisted) more problems are not listed: is this a settings file?"))
            }
            return (settings, problems)
        } catch {
            return (settings, [.unreadable(file: file, error.text, at: error.place)])
        }
    }
}

extension SettingsProblem {
    /// The result for a file that cannot be read at all.
    fileprivate static func unreadable(
        file: String, _ reason: String, at place: TOMLDocument.Place? = nil
    ) -> SettingsProblem {
        let reason = escaped(reason.prefix(1).lowercased() + reason.dropFirst(), limit: 200)
        return SettingsProblem(
            file: file, line: place?.line, column: place?.column,
            message: "cannot be read: \(reason); until that is corrected all settings have their defaults")
    }
}
