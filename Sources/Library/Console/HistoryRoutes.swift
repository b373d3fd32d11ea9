import HTTPTypes
import History
import Hummingbird
import NIOPosix
import TakeFiles
import Transport

/// The kit's history, as the recorder keeps it.
struct HistoryRoutes: Sendable {
    let history: HistoryFolder
    let pool: NIOThreadPool

    private static let usualRecords = 2000
    /// About three months of a kit that records each day.
    static let mostRecords = 20_000

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
            }
        ]
    }

    /// The newest records.
    /// - Throws: `Problem` if they cannot be read.
    func page(limit: Int) throws -> Page {
        do {
            let found = try history.records(newest: limit)
            return Page(history: found.records, damaged: found.damaged, unreadable: found.unreadable)
        } catch {
            throw Problem(.internalServerError, .io, "history: \(error.fact)")
        }
    }
}
