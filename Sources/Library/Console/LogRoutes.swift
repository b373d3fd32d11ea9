import HTTPTypes
import Hummingbird
import NIOPosix
import Transport

struct LogRoutes: Sendable {
    let journal: Journal
    let pool: NIOThreadPool

    private static let usualLines = 100

    var routes: [Route] {
        [
            Route(.get, "/api/log", for: .all, query: ["limit", "after"]) { _, context in
                let query = context.query
                let limit = try query.count("limit") ?? Int64(Self.usualLines)
                guard (1...Int64(Journal.mostLines)).contains(limit) else {
                    throw Problem(
                        .badRequest, .usage, "log: limit: found \(limit), allowed are 1 to \(Journal.mostLines)")
                }
                let page = try await pool.runIfActive { try journal.page(limit: Int(limit), after: query["after"]) }
                return Response(json: page)
            }
        ]
    }
}
