import Control
import Takes

/// The files that a kit sent to a store, from its receipts.
struct SentFiles {
    /// By file name.
    private(set) var files: [String: File] = [:]

    /// The contents that were sent of one file.
    struct File {
        /// Every content that the store may have.
        private(set) var contents: [(bytes: Int64, sha256: String)] = []

        mutating func add(_ object: RemoteObject) {
            if let sha256 = object.sha256 { contents.append((object.bytes, sha256)) }
        }

        func has(_ sha256: String) -> Bool { contents.contains { $0.sha256 == sha256 } }

        func has(bytes: Int64) -> Bool { contents.contains { $0.bytes == bytes } }
    }

    mutating func add(_ object: RemoteObject) {
        files[object.path, default: File()].add(object)
    }

    /// The files that were sent, by stem and by file name.
    /// - Parameter known: the takes in the store.
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
