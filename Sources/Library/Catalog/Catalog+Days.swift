import GRDB
import TakeFiles
public import Takes

extension Catalog {
    /// A take with its place in time.
    public struct TimedTake: Sendable {
        public let identity: TakeIdentity
        public let number: Int
        /// Nil without one.
        public let title: String?
        /// By the best known clock.
        public let started: WallTime
        /// From its first frame to its last, with the time between its parts.
        public let spanSeconds: Double
        public let rateHz: Int
        /// The folder with its files, or nil while its storage is out.
        public let folder: String?
        let id: Int64
        let markerCount: Int

        /// When the last frame was sampled.
        public var ended: WallTime { time(at: spanSeconds) }

        /// When a second of the take was sampled. A number in a damaged sidecar must not overflow.
        public func time(at second: Double) -> WallTime { started + .seconds(min(max(0, second), 1e9)) }
    }

    /// Takes that began in a stretch of time.
    public struct TakeCount: Hashable, Sendable {
        public var takes: Int
        /// The sum of their lengths.
        public var seconds: Double
    }

    /// The takes that began in each of some stretches of time.
    public func counts(in stretches: [Range<WallTime>]) throws -> [TakeCount] {
        try read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT count(*), total(durationUs) FROM take WHERE startedUs >= ? AND startedUs < ?")
            return try stretches.map { stretch in
                let bounds: StatementArguments = [stretch.lowerBound.microseconds, stretch.upperBound.microseconds]
                guard let row = try Row.fetchOne(statement, arguments: bounds) else {
                    return TakeCount(takes: 0, seconds: 0)
                }
                let microseconds: Double = row[1]
                return TakeCount(takes: row[0], seconds: microseconds / 1e6)
            }
        }
    }

    /// A take that lasts no longer than this is found also if most of its time lies between its parts.
    private static let longestBetweenParts: Int64 = 2 * 86_400_000_000

    /// The takes that were recorded in a stretch of time, also in part, in the order of their starts.
    public func takes(in stretch: Range<WallTime>) throws -> [TimedTake] {
        let (begin, end) = (stretch.lowerBound.microseconds, stretch.upperBound.microseconds)
        let found = try read { database in
            let longest = try Int64.fetchOne(database, sql: "SELECT max(durationUs) FROM take") ?? 0
            // The plus makes SQLite find the takes by their start. Rows of takes that ended before are not read.
            return try Row.fetchAll(
                database,
                sql: """
                    SELECT take.id, take, origin, number, startedUs, markerCount,
                        coalesce(json_extract(entry, '$.span_seconds'), durationUs / 1e6) AS span,
                        json_extract(entry, '$.title') AS title, json_extract(entry, '$.rate_hz') AS rate,
                        iif(storage.isHere, storage.path || '/' || day, NULL) AS folder
                    FROM take JOIN storage ON storage.id = +take.storage
                    WHERE startedUs < ? AND startedUs >= ? AND (startedUs >= ? OR startedUs + durationUs > ?)
                    ORDER BY startedUs, take.id
                    """,
                arguments: [
                    end, begin - max(longest, Self.longestBetweenParts), begin - Self.longestBetweenParts, begin,
                ]
            ).map { row in
                TimedTake(
                    identity: TakeIdentity(stem: row["take"], origin: TakeOrigin(row["origin"])), number: row["number"],
                    title: row["title"], started: WallTime(microseconds: row["startedUs"]), spanSeconds: row["span"],
                    rateHz: row["rate"], folder: row["folder"], id: row["id"], markerCount: row["markerCount"])
            }
        }
        return found.filter { $0.started >= stretch.lowerBound || $0.ended > stretch.lowerBound }
    }

    /// The current markers of a take, by frame.
    /// - Throws: `FileError`, or an error of the database.
    public func markers(of take: TimedTake) throws -> [Sidecar.Marker] {
        guard take.markerCount > 0 else { return [] }
        let recorded = try read { database in try Self.recordedMarkers(of: take.id, database) }
        return try readableNotes(of: take.identity).notes.markers(of: recorded)
    }

    /// The sidecar of a take without its clock map, which may be long. Nil if the take was removed meanwhile.
    public func sidecar(of take: TimedTake) throws -> Sidecar? {
        let json = try read { database in
            try String.fetchOne(
                database,
                sql: "SELECT iif(json_valid(json), json_remove(json, '$.clock_map'), json) FROM sidecar WHERE id = ?",
                arguments: [take.id])
        }
        return try json.map { try SidecarFile.sidecar(Array($0.utf8), path: take.identity.stem) }
    }
}
