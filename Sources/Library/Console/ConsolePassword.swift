import Digests
import FoundationEssentials
import HTTPTypes
import NIOPosix
import Takes
import Transport
import Upload

/// The password for pairing phones, in an optional file.
struct ConsolePassword: Sendable {
    private let file: String
    private let pool: NIOThreadPool
    private let attempts = Locked(Attempts())

    init(file: String, pool: NIOThreadPool) {
        self.file = file
        self.pool = pool
    }

    /// - Throws: `Problem` if the password is wrong, or this guesser had too many wrong ones.
    func check(_ given: String, by guesser: Attempts.Guesser, now: Instant) async throws {
        if let wait = attempts.withLock({ $0.begin(guesser, at: now) }) {
            let seconds = wait.components.seconds + 1
            var problem = Problem(.wrongPasswords(seconds: seconds))
            problem.headers[.retryAfter] = String(seconds)
            throw problem
        }
        guard let password = try await secret() else {
            attempts.withLock { $0.takeBack(guesser, now) }
            throw Problem(.noPassword)
        }
        // Hashes are compared, so that the response time shows nothing about the password.
        guard Digest.sha256(given) == Digest.sha256(password.text) else {
            throw Problem(.wrongPassword)
        }
        attempts.withLock { $0.takeBack(guesser, now) }
    }

    /// The first line of the file, or nil if there is none.
    func secret() async throws -> Secret? {
        try await pool.runIfActive { [file] in
            guard FileManager.default.fileExists(atPath: file) || SecretFile.credentialsDirectory != nil else {
                return nil
            }
            do throws(StoreError) {
                let text = try SecretFile(file, of: "console").content.text
                let line = text.split(whereSeparator: \.isNewline).first.map { String($0).trimmed } ?? ""
                return line.isEmpty ? nil : Secret(line)
            } catch {
                // The path must not be shown to strangers.
                throw Problem(.passwordUnreadable)
            }
        }
    }
}

extension String {
    /// Without white space at both ends.
    var trimmed: String {
        let start = drop(while: \.isWhitespace)
        return start.lastIndex { !$0.isWhitespace }.map { String(start[...$0]) } ?? ""
    }
}
