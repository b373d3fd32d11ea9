import Files

/// The call of OpenSSH's `ssh`. It never prompts, reads no configuration, and trusts only servers with a known key.
struct SSHCommand: Sendable {
    let address: SFTPAddress
    /// The file of the private key.
    let key: String
    /// The file of the server's keys.
    let knownHosts: String

    static let program = "/usr/bin/ssh"

    /// - Parameters:
    ///   - key: a file that `SecretFile` accepts, readable by this process's user alone.
    ///   - credentials: the folder of the service manager's credentials.
    /// - Throws: `StoreError`, `.refused` if a file cannot be used.
    init(
        _ address: SFTPAddress, key: String, knownHosts: String, credentials: String? = SecretFile.credentialsDirectory
    ) throws(StoreError) {
        // `ssh` expands % and $ in these paths, and splits them at spaces.
        for path in [key, knownHosts] where !path.utf8.allSatisfy(Self.isPlain) {
            throw StoreError(
                .refused,
                "outbox: \(path): ssh needs a path of letters, digits and the characters . _ - / alone: rename it")
        }
        let file = try SecretFile(key, credentials: credentials)
        try Self.check(file)
        do {
            guard try FileSystem().contents(knownHosts, limit: 1 << 20).contains(where: { $0 > 32 }) else {
                throw StoreError(.refused, "outbox: \(knownHosts): is empty: \(Self.advice(address, knownHosts))")
            }
        } catch let error as StoreError {
            throw error
        } catch {
            let advice = Self.advice(address, knownHosts)
            throw StoreError(.refused, "outbox: \((error as? FileError)?.fact ?? knownHosts): \(advice)")
        }
        self.address = address
        self.key = file.path
        self.knownHosts = knownHosts
    }

    /// The advice to make the file of the server's keys.
    static func advice(_ address: SFTPAddress, _ knownHosts: String) -> String {
        "run ssh-keyscan -p \(address.port) \(address.host) | sudo tee \(knownHosts) | ssh-keygen -lf - and compare the "
            + "fingerprint with the one that the server's administrators give"
    }

    var arguments: [String] {
        let options = [
            "BatchMode=yes", "IdentitiesOnly=yes", "IdentityAgent=none", "IdentityFile=\(key)",
            "PreferredAuthentications=publickey", "UserKnownHostsFile=\(knownHosts)", "GlobalKnownHostsFile=/dev/null",
            "StrictHostKeyChecking=yes", "UpdateHostKeys=no", "VerifyHostKeyDNS=no", "ConnectTimeout=20",
            "ServerAliveInterval=15", "ServerAliveCountMax=4", "LogLevel=ERROR", "ClearAllForwardings=yes",
            "ForwardAgent=no", "ForwardX11=no", "ControlMaster=no", "ControlPath=none", "EscapeChar=none",
            "PermitLocalCommand=no",
        ]
        return ["-F", "/dev/null"] + options.flatMap { ["-o", $0] }
            + ["-T", "-p", String(address.port), "-l", address.user, "-s", "--", address.host, "sftp"]
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "._-/@+".utf8.contains(byte)
        }
    }

    /// Detects key files that `ssh` would skip without a message.
    private static func check(_ file: SecretFile) throws(StoreError) {
        let text = file.content.text
        guard let begin = text.firstRange(of: "-----BEGIN "), text[begin.upperBound...].contains("PRIVATE KEY-----")
        else {
            throw StoreError(
                .refused,
                "outbox: \(file.path): is not a private key of OpenSSH: make one with ssh-keygen -t ed25519 -N \"\" -f \(file.path)"
            )
        }
        // openssh/PROTOCOL.key: a magic string of 15 bytes, then the name of the cipher.
        let content = text.split(whereSeparator: \.isNewline).drop { !$0.hasPrefix("-----BEGIN") }.dropFirst()
        let plain = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU"
        let isLocked =
            text.contains("BEGIN OPENSSH") ? !(content.first?.hasPrefix(plain) ?? true) : text.contains("ENCRYPTED")
        guard !isLocked else {
            throw StoreError(
                .refused,
                "outbox: \(file.path): has a passphrase, which nobody can enter here: remove it with ssh-keygen -p -f \(file.path)"
            )
        }
    }
}

/// The failure that `ssh` reports at its end.
struct SSHFailure {
    let command: SSHCommand
    /// The end of its standard error output.
    let text: String
    /// Its exit status, or nil if it was killed.
    let status: Int32?

    var error: StoreError {
        let (address, key) = (command.address, command.key)
        func error(_ problem: StoreError.Problem, _ sentence: String) -> StoreError {
            StoreError(problem, "outbox: sftp://\(address.place): \(sentence)")
        }
        let keys = SSHCommand.advice(address, command.knownHosts)
        func said(_ parts: String...) -> Bool { parts.contains { text.contains($0) } }
        if said("IDENTIFICATION HAS CHANGED", "REVOKED HOST KEY") {
            return error(
                .refused,
                "its host key is not the one in \(command.knownHosts): this may be another server: if its key was changed, \(keys)"
            )
        }
        if said("Host key verification failed") {
            return error(.refused, "its host key is not in \(command.knownHosts): \(keys)")
        }
        if said("Load key", "UNPROTECTED PRIVATE KEY") {
            return error(
                .refused, "ssh cannot use the key in \(key) (\(line("Load key"))): make it anew, or copy it whole")
        }
        if said("Permission denied (", "Too many authentication failures") {
            return error(
                .refused,
                "the server does not accept the key in \(key) for \(address.user): add what ssh-keygen -yf \(key) shows to "
                    + "the user's authorized_keys there")
        }
        if said("Could not resolve hostname") {
            return error(.away, "its name cannot be resolved: check the network, and url in [outbox.sftp]")
        }
        if said("Connection refused") {
            return error(
                .away, "nothing answers on port \(address.port): check that the server runs, and url in [outbox.sftp]")
        }
        if said("timed out", "No route to host", "Network is unreachable", "not responding") {
            return error(.away, "cannot be reached (\(last)): check the network")
        }
        if said("subsystem request failed") {
            return error(.refused, "the server offers no SFTP: its administrators must enable it for \(address.user)")
        }
        if said("Unable to negotiate") {
            return error(
                .refused, "the server and this ssh have no method in common (\(last)): the server must be updated")
        }
        if let status, text.isEmpty { return error(.away, "the connection ended (ssh has status \(status))") }
        return error(.away, "the connection ended\(text.isEmpty ? "" : " (\(last))")")
    }

    private var last: String { line("") }

    /// The last line with these words, without control characters.
    private func line(_ words: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline).filter { words.isEmpty || $0.contains(words) }
        let shown = (lines.last ?? "").unicodeScalars.map { scalar in
            scalar.value >= 32 && scalar.value < 127 ? Character(scalar) : "?"
        }
        return String(shown.prefix(200))
    }
}
