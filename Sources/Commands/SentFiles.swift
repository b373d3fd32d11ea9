import Control
import Takes

/// What a kit sent to a store, by its receipts.
struct SentFiles {
    /// By take, and by the file's name.
    private var takes: [String: [String: File]] = [:]

    /// What was sent of a file.
    struct File {
        /// Of each content that may be there.
        private(set) var contents: [(bytes: Int64, sha256: String)] = []

        mutating func add(_ object: RemoteObject) {
            if let sha256 = object.sha256 { contents.append((object.bytes, sha256)) }
        }

        /// Whether a content of this hash was sent.
        func has(_ sha256: String) -> Bool { contents.contains { $0.sha256 == sha256 } }

        /// Whether a content of this length was sent.
        func has(bytes: Int64) -> Bool { contents.contains { $0.bytes == bytes } }
    }

    mutating func add(_ object: RemoteObject) {
        guard let take = TakeName(file: object.path, day: "")?.stem else { return }
        takes[take, default: [:]][object.path, default: File()].add(object)
    }

    /// The takes of which anything was sent.
    var stems: [String] { takes.keys.sorted() }

    /// What was sent of a take, by the files' names.
    subscript(take: String) -> [String: File] { takes[take] ?? [:] }
}
