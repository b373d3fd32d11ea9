import Files
import HTTPTypes
import History
import Hummingbird
import NIOPosix
import Takes
import Transport

/// The kit's history, as the recorder keeps it.
struct HistoryRoutes: Sendable {
    let history: HistoryFolder
    let pool: NIOThreadPool
    var now: @Sendable () -> WallTime = { SystemClock().wallTime() }

    private static let usualRecords = 2000
    /// About three months of a kit that records each day.
    static let mostRecords = 20_000
    private static let mostHours: Int64 = 400 * 24

    struct Page: Encodable {
        /// The oldest first.
        var history: [HistoryRecord]
        /// The number of lines that could not be read.
        var damaged: Int
        /// The files that cannot be read, one sentence each.
        var unreadable: [String]
    }

    var routes: [Route] {
        [
            Route(.get, "/api/history", for: .all, query: ["limit"]) { _, context in
                let limit = try context.query.count("limit") ?? Int64(Self.usualRecords)
                guard (1...Int64(Self.mostRecords)).contains(limit) else {
                    throw Problem(
                        .badRequest, .usage, "history: limit: found \(limit), allowed are 1 to \(Self.mostRecords)")
                }
                return Response(json: try await pool.runIfActive { try page(limit: Int(limit)) })
            },
            Route(.get, "/api/history/summary", for: .all, query: ["hours"]) { _, context in
                let hours = try context.query.count("hours")
                guard hours.map({ (1...Self.mostHours).contains($0) }) != false else {
                    throw Problem(
                        .badRequest, .usage,
                        "history: hours: found \(hours ?? 0), allowed are 1 to \(Self.mostHours), or none for all")
                }
                return Response(json: try await pool.runIfActive { try summary(hours: hours) })
            },
        ]
    }

    /// The last hours of the history, or the newest records if nil.
    /// - Throws: `Problem` if they cannot be read.
    func summary(hours: Int64?) throws -> HistorySummary {
        let (now, span) = (self.now(), hours.map { Duration.seconds($0 * 3600) })
        do {
            let found = try history.records(newest: Self.mostRecords, backTo: span.map { now - $0 })
            return HistorySummary(found.records, span: span, now: now)
        } catch {
            throw Problem(.historyUnreadable(fact: error.fact))
        }
    }

    /// The newest records.
    /// - Throws: `Problem` if they cannot be read.
    func page(limit: Int) throws -> Page {
        do {
            let found = try history.records(newest: limit)
            return Page(history: found.records, damaged: found.damaged, unreadable: found.unreadable)
        } catch {
            throw Problem(.historyUnreadable(fact: error.fact))
        }
    }
}
