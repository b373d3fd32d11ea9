import Files
import FoundationEssentials
import Glibc
import Settings

/// A text that must not appear in logs, errors or status.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself, for the request that needs it.
    public let text: String

    public init(_ text: String) { self.text = text }

    /// Replaces the secret in another text.
    package func hidden(in other: String) -> String {
        other.split(separator: text, omittingEmptySubsequences: false).joined(separator: "…")
    }

    public var description: String { "(secret)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A file with secrets: `KEY = VALUE` lines, or another format such as a key's JSON.
public struct SecretFile: Sendable {
    public let path: String
    public let content: Secret
    private let subject: String

    private static let longest = 1 << 16

    /// Reads the file named in the settings. A file of the same name among the service's credentials
    /// (`LoadCredential=`, systemd.exec(5)) has priority.
    /// - Parameter subject: the beginning of error sentences.
    /// - Throws: `StoreError`, `.refused` if the file cannot be read, or if users other than its owner may read it.
    public init(
        _ path: String, of subject: String = "outbox", credentials: String? = Self.credentialsDirectory
    ) throws(StoreError) {
        self.subject = subject
        let name = String(path.split(separator: "/").last ?? "")
        if let credentials, unsafe access("\(credentials)/\(name)", F_OK) == 0 {
            // The service manager made this file for this service alone.
            (self.path, content) = try Self.read("\(credentials)/\(name)", for: subject)
            return
        }
        var file = stat()
        let isThere = unsafe stat(path, &file) == 0
        // A folder, or a device without an end.
        guard !isThere || file.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.refused, "\(subject): \(path): is not a file: name the file with the secret")
        }
        if isThere, file.st_mode & 0o077 != 0 {
            throw StoreError(.refused, "\(subject): \(path): others than its owner may use it: chmod 600 \(path)")
        }
        (self.path, content) = try Self.read(path, for: subject)
    }

    private static func read(_ path: String, for subject: String) throws(StoreError) -> (String, Secret) {
        do {
            let bytes = try FileSystem().contents(path, limit: longest)
            // Some editors begin a file with a byte order mark.
            let mark: [UInt8] = [0xef, 0xbb, 0xbf]
            let rest = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
            guard let text = String(validating: rest, as: UTF8.self), !text.isEmpty else {
                throw StoreError(.refused, "\(subject): \(path): is empty, or not text")
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

    /// The values of `KEY = VALUE` lines. Empty lines, and lines that begin with `#` or `[`, are ignored. A value may
    /// be quoted.
    /// - Throws: `StoreError`, `.refused` if a key is missing.
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

    /// Throws if the file names a host in a line `host = …` and it is not the store's host.
    /// - Parameter address: the store's address.
    /// - Throws: `StoreError`, `.refused`.
    public func checkHost(of address: String) throws(StoreError) {
        guard let host = SecretLines(content.text)["host"] else { return }
        if let problem = SecretHost(host).problem(in: path, at: address) {
            throw StoreError(.refused, "\(subject): \(problem)")
        }
    }

    /// The folder of this service's credentials from the service manager, or nil if there is none.
    public static var credentialsDirectory: String? {
        // Safe: the string is copied at once, and no thread changes the environment.
        unsafe getenv("CREDENTIALS_DIRECTORY").map { unsafe String(cString: $0) }
    }
}
