import Catalog
import TakeFiles
import Takes
import Transport
import Upload

/// Finds the takes to which files in a store belong. All functions may wait for the library's storage.
extension Catalog {
    /// The stem of the take to which an object belongs. Nil if it does not belong to one, or is a later part of a take
    /// that the catalog does not have.
    func stem(of object: ObjectName) throws -> String? {
        guard let name = TakeFileName(object.file) else { return nil }
        if let take = name.take(in: object.day) { return take.stem }
        // A take whose storage is not present still has notes.
        let noted = try takesWithNotes().map(\.stem)
        let stems = try Set(self.stems(of: name.kit, number: name.number) + noted)
        let known = stems.filter { TakeName(stem: $0, day: "").map(name.mayBe) ?? false }
            .map { TakeFile.sidecar(of: $0).name }
        let owner = TakeListing([object.file] + known, day: object.day) { part, stems in
            stems.filter { (try? has($0, part)) == true }
        }.files.first?.take.stem
        return owner.flatMap { known.contains(TakeFile.sidecar(of: $0).name) ? $0 : nil }
    }

    /// Whether a take with this stem has the file, by its sidecar or by its receipts.
    private func has(_ stem: String, _ file: String) throws -> Bool {
        let isListed = try find(.stem(stem)).contains { $0.recordedFiles.map(\.name).contains(file) }
        return try isListed
            || identities(of: stem).contains { take in
                try readableNotes(of: take).notes.receipts.contains {
                    $0.sha256(of: file) != nil || !$0.attempts(of: file).isEmpty
                }
            }
    }

    /// The takes with this stem to which an object may belong. If there are several, only those that were sent to the
    /// store.
    func takes(_ stem: String, of object: ObjectName, in store: String) throws -> [TakeIdentity] {
        let takes = try identities(of: stem)
        guard takes.count > 1 else { return takes }
        return try takes.filter { take in
            let receipt = try readableNotes(of: take).notes[receiptOf: store]
            return receipt?.sha256(of: object.file) != nil || receipt?.attempts(of: object.file).isEmpty == false
        }
    }
}
