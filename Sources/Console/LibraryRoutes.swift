import Control
import FoundationEssentials
import Hummingbird
import Library
import NIOPosix
import Takes
import Transport

/// What the library answers: takes, what a person writes of them, and the outbox.
struct LibraryRoutes: Sendable {
    let library: LibraryDesk
    let recorder: RecorderDesk
    let feed: RecorderFeed
    /// Threads that may wait for the disk.
    let pool: NIOThreadPool

    var routes: [Route] {
        [
            Route(.get, "/api/library", for: .look) { _, _ in try await answer(["command": .string("status")]) },
            Route(.get, "/api/takes", for: .look) { request, _ in
                var members = try QueryItems(request.uri.query).members(
                    numbers: ["limit", "least_seconds", "most_seconds"], booleans: ["starred", "descending"])
                members["command"] = .string("takes")
                return try await answer(members)
            },
            Route(.get, "/api/takes/{take}", for: .look) { _, context in
                try await answer(["command": .string("show"), "take": stem(context)])
            },
            Route(.patch, "/api/takes/{take}", for: .all) { request, context in
                try await change(try await request.members(["memo", "starred", "add", "remove"]), of: stem(context))
            },
            Route(.delete, "/api/takes/{take}", for: .all) { request, context in
                try await delete(context.parameter("take"), where: try QueryItems(request.uri.query)["where"] ?? "here")
            },
            Route(.post, "/api/takes/{take}/outbox", for: .all) { request, context in
                let wish = try await request.members(["do"])["do"]?.text ?? ""
                guard let decision = OutboxDecision(rawValue: "outbox-\(wish)") else {
                    throw Problem(.badRequest, .usage, "outbox: do: allowed are \"add\", \"remove\", \"hold\"")
                }
                return try await answer(["command": .string(decision.rawValue), "take": stem(context)])
            },
            Route(.get, "/api/outbox", for: .look) { request, _ in
                var members = try QueryItems(request.uri.query).members(numbers: ["limit"], booleans: [])
                members["command"] = .string("outbox")
                return try await answer(members)
            },
        ]
            + OutboxWish.allCases.map { wish in
                Route(.post, "/api/outbox/\(wish.rawValue.dropFirst("outbox-".count))", for: .all) { request, _ in
                    _ = try await request.members()
                    return try await answer(["command": .string(wish.rawValue)])
                }
            }
    }

    private func stem(_ context: ConsoleContext) -> JSONValue { .string(context.parameter("take")) }

    /// Carries out a request, as the library's socket has it.
    private func answer(_ members: [String: JSONValue]) async throws -> Response {
        let message = try LibraryMessage(members)
        let object = try await pool.runIfActive { try library.answer(message) }
        return Response(json: object)
    }

    /// Changes what a person wrote of a take: all of it is read before any of it is changed.
    private func change(_ wanted: [String: JSONValue], of take: JSONValue) async throws -> Response {
        var messages: [LibraryMessage] = []
        func add(_ command: String, _ members: [String: JSONValue]) throws {
            let named: [String: JSONValue] = ["command": .string(command), "take": take]
            messages.append(try LibraryMessage(members.merging(named) { $1 }))
        }
        if let memo = wanted["memo"] { try add("memo", ["memo": memo]) }
        if let starred = wanted["starred"] { try add("star", ["starred": starred]) }
        if wanted["add"] != nil || wanted["remove"] != nil {
            try add("tag", wanted.filter { $0.key == "add" || $0.key == "remove" })
        }
        guard !messages.isEmpty else {
            throw Problem(.badRequest, .usage, "console: nothing is to be changed: send memo, starred, add or remove")
        }
        let steps = messages
        let object = try await pool.runIfActive {
            var object: any Encodable & Sendable = [String: String]()
            for message in steps { object = try library.answer(message) }
            return object
        }
        // Other phones show it too.
        let event: [String: JSONValue] = ["event": .string("take"), "what": .string("revised"), "take": take]
        feed.post(.take(Array(JSONValue.object(event).description.utf8)))
        return Response(json: object)
    }

    private func delete(_ stem: String, where place: String) async throws -> Response {
        let take = try await pool.runIfActive { try library.take(stem, for: "delete") }
        switch place {
        case "here": try await discard(take)
        case "there": try await deleteThere(take)
        case "both":
            try await deleteThere(take)
            try await discard(take)
        default:
            throw Problem(.badRequest, .usage, "delete: where: found \(place), allowed are here, there, both")
        }
        return .nothing
    }

    private func deleteThere(_ take: CatalogedTake) async throws {
        let day = take.folder.split(separator: "/").last.map(String.init) ?? ""
        guard let name = TakeName(stem: take.take, day: day) else {
            throw Problem(.internalServerError, .internal, "delete: \(take.take): its name is none of a take")
        }
        try await library.deleteEverywhere(name)
    }

    private func discard(_ take: CatalogedTake) async throws {
        guard take.place == .here else {
            throw Problem(.conflict, .busy, "delete: \(take.take): it is on a storage that is out: put it in first")
        }
        _ = try await recorder.ask(.command(.discard(stem: take.take)), patience: RecorderDesk.discardPatience)
    }
}
