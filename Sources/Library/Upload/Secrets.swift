import FoundationEssentials
import Glibc
import Settings
import TakeFiles

/// A text that no log, error or status may show.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself, for the request that needs it.
    public let text: String

    /// Hides a text.
    public init(_ text: String) { self.text = text }

    /// A text without this one.
    package func hidden(in other: String) -> String {
        other.split(separator: text, omittingEmptySubsequences: false).joined(separator: "…")
    }

    /// Never the text.
    public var description: String { "(secret)" }
    /// Never the text.
    public var debugDescription: String { description }
    /// Never the text.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A file with secrets: `KEY = VALUE` lines, or something of its own such as a key's JSON.
public struct SecretFile: Sendable {
    /// Where it is.
    public let path: String
    /// Its bytes.
    public let content: Secret
    private let subject: String

    private static let longest = 1 << 16

    /// Reads the file that the settings name; one of the same name among the service's credentials (`LoadCredential=`, systemd.exec(5))
    /// comes before it.
    /// - Parameter subject: what needs it, as sentences begin.
    /// - Throws: `StoreError`, `.refused`: it cannot be read, or others than its owner may read it.
    public init(
        _ path: String, of subject: String = "outbox", credentials: String? = Self.credentialsDirectory
    ) throws(StoreError) {
        self.subject = subject
        let name = String(path.split(separator: "/").last ?? "")
        if let credentials, unsafe access("\(credentials)/\(name)", F_OK) == 0 {
            // The service manager made it, for this service alone.
            (self.path, content) = try Self.read("\(credentials)/\(name)", for: subject)
            return
        }
        var file = stat()
        let isThere = unsafe stat(path, &file) == 0
        // A folder, or what would never end.
        guard !isThere || file.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.refused, "\(subject): \(path): is no file: name the file with the secret")
        }
        if isThere, file.st_mode & 0o077 != 0 {
            throw StoreError(.refused, "\(subject): \(path): others than its owner may use it: chmod 600 \(path)")
        }
        (self.path, content) = try Self.read(path, for: subject)
    }

    private static func read(_ path: String, for subject: String) throws(StoreError) -> (String, Secret) {
        do {
            let bytes = try FileSystem().contents(path, limit: longest)
            // Some editors begin a file with a mark of its encoding.
            let mark: [UInt8] = [0xef, 0xbb, 0xbf]
            let rest = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
            guard let text = String(validating: rest, as: UTF8.self), !text.isEmpty else {
                throw StoreError(.refused, "\(subject): \(path): is empty, or is no text")
            }
            return (path, Secret(text))
        } catch let error as StoreError {
            throw error
        } catch let error as FileError {
            let advice =
                error.code == EACCES
                ? "it must belong to the library's user: chown fieldfare-library \(path)"
                : "make it, for the library's user, with mode 600"
            throw StoreError(.refused, "\(subject): \(error.fact): \(advice)")
        } catch {
            throw StoreError(.refused, "\(subject): \(path): cannot be read")
        }
    }

    /// The values of `KEY = VALUE` lines. Lines that begin with `#` or `[`, and empty ones, say nothing; a value may be in quotes.
    /// - Throws: `StoreError`, `.refused`, if a key is missing.
    public func values(_ keys: String...) throws(StoreError) -> [Secret] {
        let lines = SecretLines(content.text)
        var values: [Secret] = []
        for key in keys {
            guard let value = lines[key] else {
                throw StoreError(.refused, "\(subject): \(path): \(key) is missing: write a line \(key) = …")
            }
            values.append(Secret(value))
        }
        return values
    }

    /// Refuses the secret to another host than the one that the file names in a line `host = …`, if it names one.
    /// - Parameter address: the store's.
    /// - Throws: `StoreError`, `.refused`.
    public func checkHost(of address: String) throws(StoreError) {
        guard let host = SecretLines(content.text)["host"] else { return }
        if let problem = SecretHost(host).problem(in: path, at: address) {
            throw StoreError(.refused, "\(subject): \(problem)")
        }
    }

    /// Where the service manager puts the credentials of this service; nil: there are none.
    public static var credentialsDirectory: String? {
        // Safe: copied at once, and no thread changes the environment.
        unsafe getenv("CREDENTIALS_DIRECTORY").map { unsafe String(cString: $0) }
    }
}
