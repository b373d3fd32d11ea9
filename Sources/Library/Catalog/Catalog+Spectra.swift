import FoundationEssentials
import GRDB
import TakeFiles
public import Takes

extension Catalog {
    /// A take with the names of its filtered audio files, without their extensions.
    public struct HeldSound: Sendable {
        public var id: Int64
        public var take: LocatedTake
        public var bases: [String]
    }

    /// Takes whose sound was compared and is not damaged, on storages that are present, the newest first.
    /// - Parameter id: the row id of the last take of the previous call, or nil for the first call.
    public func heldSounds(before id: Int64?, limit: Int) throws -> [HeldSound] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT take.id, \(LocatedTake.columns), json_extract(entry, '$.files') AS files
                    FROM take JOIN storage ON storage.id = take.storage
                    WHERE take.id < ? AND \(CatalogSchema.sound) IS NOT NULL AND \(CatalogSchema.sound) <> 'damaged'
                        AND storage.isHere AND NOT (\(CatalogSchema.isPending))
                    ORDER BY take.id DESC LIMIT ?
                    """, arguments: [id ?? Int64.max, limit]
            ).compactMap { row in
                guard let take = LocatedTake(row) else { return nil }
                let text: String = row["files"] ?? "[]"
                let files = try JSONDecoder().decode([String].self, from: Data(text.utf8))
                    .filter { TakeFileName($0)?.isUnfiltered == false }
                return HeldSound(id: row["id"], take: take, bases: files.map { RecordedSound.base(of: $0) })
            }
        }
    }

    /// A take on a storage that is present, or nil if there is none.
    public func location(of take: TakeIdentity) throws -> LocatedTake? {
        try read { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT \(LocatedTake.columns) FROM take JOIN storage ON storage.id = take.storage
                    WHERE take.take = ? AND take.origin = ? AND storage.isHere
                    """, arguments: [take.stem, take.origin.description]
            ).flatMap { LocatedTake($0) }
        }
    }

    /// Whether a take on any storage has this audio file.
    /// - Parameter base: the file's name without its extension.
    public func listsSound(_ base: String) throws -> Bool {
        guard let name = TakeFileName(base) else { return false }
        return try read { database in
            try Bool.fetchOne(
                database,
                sql: """
                    SELECT EXISTS (
                        SELECT 1 FROM take, json_each(take.entry, '$.files') AS file
                        WHERE take.number = ? AND file.value IN (?, ?))
                    """, arguments: [name.number, "\(base).wav", "\(base).flac"]) ?? false
        }
    }
}
