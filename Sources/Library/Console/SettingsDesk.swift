import Control
import Digests
import Glibc
import HTTPTypes
import Settings
import TakeFiles
import Transport

/// Changes of the settings file by browsers. The library writes a request file, and a unit with the right to write the
/// settings applies it.
struct SettingsDesk: Sendable {
    let path: String
    /// The folder for request files, which belongs to the library.
    let wishFolder: String
    /// The folder for the unit's results. It exists while the unit is installed.
    let outcomeFolder: String
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
    }

    func form() throws(Problem) -> Reply {
        let text = try text()
        let form = SettingsForm(text, file: path)
        let outcome = try? files.contents("\(outcomeFolder)/outcome", limit: 4096)
        return Reply(
            path: path, fingerprint: Self.fingerprint(text), sections: form.sections, problems: form.problems,
            outcome: outcome.map { String(decoding: $0, as: UTF8.self) }, changeable: isChangeable)
    }

    private var isChangeable: Bool { (try? files.attributes(outcomeFolder)) != nil }

    /// Requests changes of keys; null removes a key. Either all changes are made or none.
    /// - Throws: `Problem` if the file was changed meanwhile, a value is not allowed, or the unit is not installed.
    func change(_ changes: [String: JSONValue], of fingerprint: String) throws(Problem) {
        let text = try text()
        guard Self.fingerprint(text) == fingerprint else {
            throw Problem(
                .conflict, .busy, "settings: \(path) was changed meanwhile: look at it again, and change it then")
        }
        guard isChangeable else {
            throw Problem(
                .conflict, .busy, "settings: fieldfare-settings.path does not run here: change \(path) by hand")
        }
        var edit = SettingsEdit(text, file: path)
        do throws(SettingsEdit.Refusal) {
            for (name, value) in changes.sorted(by: { $0.key < $1.key }) { try Self.set(name, to: value, &edit) }
        } catch {
            throw Problem(.badRequest, .usage, error.description)
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
            throw Problem(.internalServerError, .io, "settings: \(error.fact): the change was not asked for")
        }
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
            guard error.code == ENOENT else { throw Problem(.internalServerError, .io, "settings: \(error.fact)") }
            return ""
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Problem(.unprocessableContent, .badData, "settings: \(path) is no UTF-8: correct it by hand")
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
