import Digests
import Files

/// Pairs one browser on this machine, once. A program writes a secret to a file of the library's folder, and gives the
/// browser an address that contains it.
struct Ticket: Sendable {
    private let path: String
    private let files: FileSystem

    /// A shorter secret could be guessed.
    private static let shortest = 32
    private static let longest = 200

    /// - Parameter folder: the library's folder.
    init(in folder: String, files: FileSystem = FileSystem()) {
        path = "\(folder)/ticket"
        self.files = files
    }

    /// Whether `text` is the secret, which is then used up. Only one of several simultaneous calls returns true.
    func redeem(_ text: String) -> Bool {
        guard let bytes = try? files.contents(path, limit: Self.longest),
            let secret = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).first,
            secret.utf8.count >= Self.shortest
        else { return false }
        // Hashes are compared, so that the response time shows nothing about the secret.
        guard Digest.sha256(text) == Digest.sha256(String(secret)) else { return false }
        // A second rename does not find the file.
        let used = path + ".used"
        guard (try? files.rename(path, to: used)) != nil else { return false }
        try? files.remove(used)
        return true
    }
}
