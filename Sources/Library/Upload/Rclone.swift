import FoundationEssentials
import Glibc

/// The program rclone with the configuration of one remote.
struct Rclone: Sendable {
    private let program: String
    private let configuration: SecretFile
    /// The remote's name, without the colon.
    private let remote: String
    private let environment: [String: String]
    /// Waiting for rclone blocks only this thread, which belongs to this remote.
    private let thread: DiskReader

    /// Configuration keys whose values are not secrets.
    private static let openKeys: Set<String> = [
        "type", "provider", "region", "endpoint", "url", "host", "port", "user", "username", "vendor", "remote",
        "scope", "env_auth", "location_constraint", "acl", "filename_encryption", "directory_name_encryption",
        "drive_type", "team_drive",
    ]

    /// The library's service allows few threads and little memory. Some of rclone's defaults are 96 MiB and more.
    private static let limits = [
        "GOMAXPROCS": "2", "GOMEMLIMIT": "64MiB", "RCLONE_S3_UPLOAD_CONCURRENCY": "2", "RCLONE_B2_CHUNK_SIZE": "8M",
        "RCLONE_DROPBOX_CHUNK_SIZE": "8M", "RCLONE_AZUREBLOB_UPLOAD_CONCURRENCY": "2",
    ]
    private static let arguments = [
        "--ask-password=false",
        // One attempt, because the outbox retries failures.
        "--retries", "1", "--low-level-retries", "3", "--contimeout", "20s", "--timeout", "60s",
        "--transfers", "1", "--checkers", "2", "--buffer-size", "1M", "--log-level", "ERROR",
    ]

    /// - Parameters:
    ///   - authorities: a file of certificates (PEM) that are trusted in addition to the system's; nil for none.
    ///   - path: the folders to search for rclone, separated by colons; nil for those of `PATH`.
    /// - Throws: `StoreError`, `.refused` if rclone is not installed.
    init(configuration: SecretFile, remote: String, authorities: String?, path: String? = nil) throws {
        var environment = ProcessInfo.processInfo.environment
        // rclone 1.60 does not start while this variable is set.
        environment["AWS_CA_BUNDLE"] = nil
        // Notifications to the service manager must come from this process alone.
        environment["NOTIFY_SOCKET"] = nil
        // rclone also uses the system's certificate folder.
        if let authorities { environment["SSL_CERT_FILE"] = authorities }
        environment.merge(Self.limits) { _, limit in limit }
        let folders = (path ?? environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        guard let program = folders.map({ "\($0)/rclone" }).first(where: Self.isProgram) else {
            throw StoreError(.refused, "outbox: rclone: is not installed: apt-get install rclone")
        }
        self.program = program
        self.configuration = configuration
        self.remote = remote
        self.environment = environment
        thread = try DiskReader(name: "rclone")
    }

    private static func isProgram(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

    /// Whether a hash from rclone is computed by the remote itself. The excluded types return hashes that rclone stored
    /// when it sent the object.
    var hashesAreTheRemotes: Bool {
        let types = values(of: configuration.content).filter { $0.key == "type" }.map(\.value)
        return !types.isEmpty && types.allSatisfy { !["chunker", "compress", "hasher"].contains($0) }
    }

    /// Runs a command to its end.
    /// - Parameter action: the action for error sentences, such as `listing`.
    /// - Throws: `StoreError`.
    func run(
        _ arguments: [String], _ action: String, send: ((RcloneProcess.Input) async throws -> Void)? = nil,
        receive: ([UInt8]) async throws -> Void = { _ in }
    ) async throws {
        let ended = try await RcloneProcess.run(
            program, ["--config", configuration.path] + Self.arguments + arguments, environment: environment,
            on: thread, send: send, receive: receive)
        guard ended.status != 0 else { return }
        throw try await thread.perform { _ in problem(ended, action) }
    }

    /// The error for an exit status (rclone.org/docs, "Exit code") and rclone's error output. This reads the
    /// configuration file.
    private func problem(_ ended: RcloneProcess.Ended, _ action: String) -> StoreError {
        let text = ended.errors.lowercased()
        func says(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        let subject = "outbox: rclone: \(action) at \(remote)"
        let said = reason(ended.errors)
        let file = configuration.path
        if says("didn't find section in config file") {
            return StoreError(
                .refused, "\(subject): no such remote in \(file): make it: rclone --config \(file) config")
        }
        if says("unable to decrypt configuration", "couldn't decrypt configuration") {
            return StoreError(
                .refused,
                "\(subject): \(file) is encrypted, and nobody is there to type its password: remove the password: "
                    + "rclone --config \(file) config")
        }
        if says("failed to load config file") {
            return StoreError(
                .refused, "\(subject): rclone cannot read \(file): \(said): correct it: rclone --config \(file) config")
        }
        if says("certificate", "x509:") {
            return StoreError(
                .refused,
                "\(subject): its certificate is not trusted: \(said): see its date and the kit's clock, or name the authority in "
                    + "[outbox] ca_file")
        }
        if says("too many requests", "rate limit", "ratelimit", "rate_limit", "slowdown", "503 service", "error 429") {
            return StoreError(.busy(nil), "\(subject): the remote is busy: \(said)")
        }
        if says("no space left", "quota", "insufficient storage", "insufficient_space", "error 507", "507 insufficient")
        {
            return StoreError(
                .full, "\(subject): the remote is full: \(said): delete what is not needed there, or get more space")
        }
        if says(
            "unauthorized", "forbidden", "accessdenied", "access denied", "invalid_grant", "invalidaccesskeyid",
            "signaturedoesnotmatch", "token expired", "expired_access_token", "invalid_access_token",
            "couldn't fetch token", "permission denied", "unable to authenticate", "read-only file system")
        {
            return StoreError(
                .refused,
                "\(subject): the remote refuses: \(said): correct its password, key or rights: rclone --config \(file) config"
            )
        }
        if says(
            "connection refused", "no such host", "network is unreachable", "no route to host", "timeout",
            "connection reset", "temporary failure in name resolution", "server misbehaving", "unexpected eof",
            "broken pipe")
        {
            return StoreError(.away, "\(subject): the remote cannot be reached: \(said)")
        }
        if ended.status == 3 || ended.status == 4
            || says("is a directory or doesn't exist", "directory not found", "object not found")
        {
            return StoreError(.missing, "\(subject): no such object")
        }
        if says("failed to create file system", "unknown command", "unknown flag") {
            return StoreError(
                .refused,
                "\(subject): rclone cannot use the remote: \(said): correct it: rclone --config \(file) config")
        }
        return StoreError(
            .busy(nil),
            ended.status < 0
                ? "\(subject): rclone was killed: see what memory is left"
                : "\(subject): failed with exit status \(ended.status): \(said)")
    }

    /// The last message, without secrets.
    func reason(_ errors: String) -> String {
        let lines = errors.split(whereSeparator: \.isNewline)
        // Each message begins with `2026/11/23 11:38:57 ` and may have several lines.
        let start = lines.lastIndex { $0.prefix(1).allSatisfy(\.isNumber) && $0.dropFirst(4).hasPrefix("/") }
        var line = lines.isEmpty ? "it gave no reason" : lines[(start ?? lines.count - 1)...].joined(separator: " ")
        for secret in secrets { line = line.replacing(secret.text, with: "(secret)") }
        if start != nil { line = line.split(separator: " ").dropFirst(2).joined(separator: " ") }
        // Links may have a signature in the query, and a password before the host.
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map { word -> String in
            guard let scheme = word.firstRange(of: "://") else { return String(word) }
            let rest = word[scheme.upperBound...]
            let shown = rest.prefix { $0 != "?" }
            let afterUser = shown.lastIndex(of: "@").map { shown[shown.index(after: $0)...] } ?? shown
            return word[..<scheme.upperBound] + afterUser + (shown.endIndex < rest.endIndex ? "?…" : "")
        }
        return String(
            words.joined(separator: " ").unicodeScalars
                .map { $0.value < 0x20 || $0.value == 0x7f ? " " : Character($0) }.prefix(300))
    }

    /// Configuration values that must not appear in sentences. The file is read again because rclone may have written
    /// new tokens.
    private var secrets: [Secret] {
        let now = (try? SecretFile(configuration.path, credentials: nil))?.content ?? configuration.content
        return (values(of: configuration.content) + values(of: now)).flatMap { key, value -> [Secret] in
            guard value.count >= 4, !Self.openKeys.contains(key) else { return [] }
            // A token is JSON: each string in it is a secret.
            return [Secret(value)] + value.split(separator: "\"").filter { $0.count > 16 }.map { Secret(String($0)) }
        }
    }

    private func values(of content: Secret) -> [(key: String, value: String)] {
        content.text.split(whereSeparator: \.isNewline).compactMap { line in
            guard let mark = line.firstIndex(of: "=") else { return nil }
            let key = line[..<mark].filter { !$0.isWhitespace }
            let value = line[line.index(after: mark)...]
            guard let first = value.firstIndex(where: { !$0.isWhitespace }),
                let last = value.lastIndex(where: { !$0.isWhitespace })
            else { return nil }
            return (key, String(value[first...last]))
        }
    }
}
