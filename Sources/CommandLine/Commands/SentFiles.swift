import Control
import Takes

/// What a kit sent to a store, by its receipts.
struct SentFiles {
    /// By the file's name.
    private(set) var files: [String: File] = [:]

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
        files[object.path, default: File()].add(object)
    }

    /// The files that were sent, by the stem of their take and by name.
    /// - Parameter known: the takes at the store.
    func takes(_ known: [RemoteTakes.Take]) -> [String: [String: File]] {
        let owners = Dictionary(known.flatMap { take in take.files.map { (take.name(of: $0), take.stem) } }) { $1 }
        return Dictionary(
            TakeListing(files.keys, day: "") { part, stems in owners[part].map { [$0] } ?? stems }.takes.map {
                take, names in
                (take.stem, Dictionary(names.map { ($0, files[$0] ?? File()) }) { $1 })
            }
        ) {
            $0.merging($1) { $1 }
        }
    }
}
