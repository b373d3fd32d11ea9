import Control
import Digests
import Files
import Glibc
import HTTPTypes
import Settings
import Transport

/// Changes of the settings file by browsers. The library writes a request file, and a unit with the right to write the
/// settings applies it.
struct SettingsDesk: Sendable {
    let path: String
    /// The folder for request files, which belongs to the library.
    let wishFolder: String
    /// The folder for the unit's results. It exists while the unit is installed.
    let outcomeFolder: String
    /// The folder of the kernel's files.
    var kernelFiles = "/sys"
    private let files = FileSystem()

    static let mostBytes = 1 << 20

    /// The answer for a browser.
    struct Reply: Encodable {
        var path: String
        /// The hash of the current file. A change must state it, so that another person's edits are not lost.
        var fingerprint: String
        var sections: [SettingsForm.Section]
        var problems: [String]
        /// The result of the last change: applied, waiting, or refused with a reason. Nil if no change was requested
        /// since the kit started.
        var outcome: String?
        /// Whether the console can change the settings.
        var changeable: Bool
        /// What this kit has. Settings of other things are not offered.
        var kit: KitParts
    }

    func form() throws(Problem) -> Reply {
        let text = try text()
        let form = SettingsForm(text, file: path)
        let outcome = try? files.contents("\(outcomeFolder)/outcome", limit: 4096)
        return Reply(
            path: path, fingerprint: Self.fingerprint(text), sections: form.sections, problems: form.problems,
            outcome: outcome.map { String(decoding: $0, as: UTF8.self) }, changeable: isChangeable,
            kit: KitParts(root: kernelFiles))
    }

    private var isChangeable: Bool { (try? files.attributes(outcomeFolder)) != nil }

    /// Requests changes of keys; null removes a key. Either all changes are made or none.
    /// - Throws: `Problem` if the file was changed meanwhile, a value is not allowed, or the unit is not installed.
    func change(_ changes: [String: JSONValue], of fingerprint: String) throws(Problem) {
        let text = try text()
        guard Self.fingerprint(text) == fingerprint else {
            throw Problem(.settingsChanged(file: path))
        }
        guard isChangeable else {
            throw Problem(.settingsByHand(file: path))
        }
        var edit = SettingsEdit(text, file: path)
        if let (name, refusal) = Self.set(changes, &edit) {
            throw Problem(.settingNotAllowed(name: name, message: refusal.description))
        }
        guard edit.text.utf8.count <= Self.mostBytes else {
            throw Problem(.badRequest, .usage, "settings: \(path) would be longer than 1 MiB")
        }
        do throws(FileError) {
            let wish = "\(wishFolder)/settings-wish"
            // The first line identifies the file to replace.
            let file = try files.create(wish + ".tmp", isNew: false, mode: 0o640)
            try files.write(Array("\(fingerprint)\n\(edit.text)".utf8), to: file, at: 0)
            try files.move(wish + ".tmp", to: wish)
        } catch {
            throw Problem(.settingsFailed(message: "settings: \(error.fact): the change was not asked for"))
        }
    }

    /// Sets several keys. A key may be allowed only after another one is set, so refused ones are tried again.
    /// - Returns: a key that is refused, with the reason, or nil if all are set.
    private static func set(
        _ changes: [String: JSONValue], _ edit: inout SettingsEdit
    ) -> (name: String, refusal: SettingsEdit.Refusal)? {
        var left = changes.keys.sorted()
        while !left.isEmpty {
            var refused: [(name: String, refusal: SettingsEdit.Refusal)] = []
            for name in left {
                do throws(SettingsEdit.Refusal) {
                    try set(name, to: changes[name] ?? .null, &edit)
                } catch {
                    refused.append((name, error))
                }
            }
            if refused.count == left.count { return refused.first }
            left = refused.map { $0.name }
        }
        return nil
    }

    /// If the key does not accept the text, it is parsed as a number, Boolean or list.
    private static func set(
        _ name: String, to value: JSONValue, _ edit: inout SettingsEdit
    ) throws(SettingsEdit.Refusal) {
        do throws(SettingsEdit.Refusal) {
            try edit.set(name, to: value == .null ? nil : Self.value(value))
        } catch {
            guard case .string(let text) = value, let typed = try? JSONValue(decoding: text.utf8) else { throw error }
            try edit.set(name, to: Self.value(typed))
        }
    }

    private func text() throws(Problem) -> String {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try files.contents(path, limit: Self.mostBytes + 1)
        } catch {
            guard error.code == ENOENT else { throw Problem(.settingsFailed(message: "settings: \(error.fact)")) }
            return ""
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Problem(.unprocessableContent, .badData, "settings: \(path) is not UTF-8: correct it by hand")
        }
        return text
    }

    private static func fingerprint(_ text: String) -> String {
        Digest.sha256(text).hexadecimal
    }

    private static func value(_ value: JSONValue) -> SettingsValue? {
        switch value {
        case .null: nil
        case .bool(let value): .boolean(value)
        case .number: value.integer.map { .integer(Int64($0)) } ?? value.double.map { .real($0) }
        case .string(let text): .text(text)
        case .array(let values): .list(values.compactMap { Self.value($0) })
        case .object(let members): .table(members.compactMapValues { Self.value($0) })
        }
    }
}
