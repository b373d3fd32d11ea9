import Control
import FoundationEssentials
import Hummingbird
import Library
import NIOPosix
import TakeFiles
import Takes
import Transport

/// The library's answers: takes, people's notes, and the outbox.
struct LibraryRoutes: Sendable {
    let library: LibraryDesk
    /// Threads that may wait for the disk.
    let pool: NIOThreadPool
    /// Reports the actions of phones.
    let news: PhoneNews

    var routes: [Route] {
        [
            Route(.get, "/api/library", for: .look) { _, _ in try await answer(["command": .string("status")]) },
            Route(.get, "/api/takes", for: .look, query: .once(Self.conditions)) { _, context in
                var members = context.query.members(
                    numbers: ["limit", "least_seconds", "most_seconds"], booleans: ["starred", "damaged", "descending"])
                members["command"] = .string("takes")
                return try await answer(members)
            },
            Route(.get, "/api/takes/{take}", for: .look) { _, context in
                try await answer(["command": .string("show"), "take": stem(context)])
            },
            Route(.patch, "/api/takes/{take}", for: .all) { request, context in
                try await change(
                    try await request.members(["memo", "memo_was", "starred", "add", "remove", "markers"]),
                    of: context.parameter("take"))
            },
            Route(.delete, "/api/takes/{take}", for: .all, query: ["where", "left", "now"]) { _, context in
                try await delete(context.parameter("take"), context.query)
            },
            Route(.post, "/api/takes/{take}/restore", for: .all) { request, context in
                _ = try await request.members()
                return try await restore(context.parameter("take"))
            },
            Route(.post, "/api/takes/{take}/outbox", for: .all) { request, context in
                let wish = try await request.members(["do"])["do"]?.text ?? ""
                guard let decision = OutboxDecision(rawValue: "outbox-\(wish)") else {
                    throw Problem(.badRequest, .usage, "outbox: do: allowed are \"add\", \"remove\", \"hold\"")
                }
                return try await answer(["command": .string(decision.rawValue), "take": stem(context)])
            },
            Route(.post, "/api/takes/{take}/accept-damaged", for: .all) { request, context in
                _ = try await request.members()
                return Response(jsonBytes: try await library.acceptDamaged(context.parameter("take")).utf8)
            },
            Route(.post, "/api/stick/adopt", for: .all) { request, context in
                _ = try await request.members()
                let (reply, isNew) = try await library.adoptStick(by: context.phone?.name)
                if isNew { await news.report(PhoneEvent(.stick, by: context.phone?.name)) }
                return Response(jsonBytes: reply.utf8)
            },
            Route(.get, "/api/outbox", for: .look, query: ["limit"]) { _, context in
                var members = context.query.members(numbers: ["limit"], booleans: [])
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

    /// The allowed conditions of a list.
    private static let conditions = [
        "text", "tag", "starred", "marker", "since", "until", "least_seconds", "most_seconds", "kit", "place", "upload",
        "damaged",
        "order", "descending", "limit", "after",
    ]

    private func stem(_ context: ConsoleContext) -> JSONValue { .string(context.parameter("take")) }

    /// Carries out a request in the form of the library's socket.
    private func answer(_ members: [String: JSONValue]) async throws -> Response {
        let message = try LibraryMessage(members)
        let object = try await pool.runIfActive { try library.answer(message) }
        return Response(jsonBytes: object.utf8)
    }

    /// Changes people's notes on a take, either all of them or none.
    private func change(_ wanted: [String: JSONValue], of stem: String) async throws -> Response {
        var messages: [LibraryMessage] = []
        func add(_ command: String, _ members: [String: JSONValue]) throws {
            let named: [String: JSONValue] = ["command": .string(command), "take": .string(stem)]
            messages.append(try LibraryMessage(members.merging(named) { $1 }))
        }
        if wanted["memo"] != nil || wanted["memo_was"] != nil {
            try add("memo", wanted.filter { $0.key.hasPrefix("memo") })
        }
        if let starred = wanted["starred"] { try add("star", ["starred": starred]) }
        if wanted["add"] != nil || wanted["remove"] != nil {
            try add("tag", wanted.filter { $0.key == "add" || $0.key == "remove" })
        }
        if let markers = wanted["markers"] {
            guard case .object(let members) = markers, members.keys.allSatisfy({ $0 == "set" || $0 == "remove" }) else {
                throw Problem(.badRequest, .usage, "markers: allowed is an object with set, remove, or both")
            }
            try add("markers", members)
        }
        guard !messages.isEmpty else {
            throw Problem(
                .badRequest, .usage, "console: nothing is to be changed: send memo, starred, add, remove or markers")
        }
        let changes = messages
        let object = try await pool.runIfActive { try library.change(stem, changes) }
        return Response(jsonBytes: object.utf8)
    }

    private func delete(_ stem: String, _ query: QueryItems) async throws -> Response {
        guard [nil, "true", "false"].contains(query["now"]) else {
            throw Problem(.badRequest, .usage, "delete: now: found \(query["now"] ?? ""), allowed are true, false")
        }
        let deletion = try Deletion(
            where: query["where"], left: query["left"], isFinal: query["now"] == "true")
        do {
            try await library.delete(stem, deletion)
        } catch let error as ControlError {
            throw Problem(error)
        }
        return .nothing
    }

    private func restore(_ stem: String) async throws -> Response {
        do {
            try await library.restore(stem)
        } catch let error as ControlError {
            throw Problem(error)
        }
        return .nothing
    }
}
