import Control
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
            Route(.get, "/api/library", for: .look) { _, _ in try await answer { library in try library.status() } },
            Route(.get, "/api/takes", for: .look, query: .once(Self.conditions)) { _, context in
                let numbers: Set = [
                    "limit", "least_seconds", "most_seconds", "longer", "shorter", "hour_from", "hour_to", "louder",
                ]
                var query = try TakeQuery(
                    context.query.members(numbers: numbers, booleans: ["starred", "damaged", "descending"]))
                query.isCounted = true
                return try await answer { [query] library in try library.takes(query) }
            },
            Route(.get, "/api/takes/{take}", for: .look) { _, context in
                let take = try TakeReference(reading: context.parameter("take"), for: "show")
                return try await answer { library in try library.show(take) }
            },
            Route(
                .patch, "/api/takes/{take}", for: .all,
                takes: .json(["title", "memo", "memo_was", "starred", "add", "remove", "markers"])
            ) { _, context in
                let (stem, changes) = (context.parameter("take"), try Self.changes(context.members))
                // A refusal repeats the name of the take, so the name must not be long.
                _ = try TakeReference(reading: stem, for: changes[0].kind.rawValue)
                return try await answer { library in try library.change(stem, changes) }
            },
            Route(.delete, "/api/takes/{take}", for: .all, query: ["where", "left", "now"]) { _, context in
                try await delete(context.parameter("take"), context.query)
            },
            Route(.post, "/api/takes/{take}/restore", for: .all) { _, context in
                try await restore(context.parameter("take"))
            },
            Route(.post, "/api/takes/{take}/outbox", for: .all, takes: .json(["do"])) { _, context in
                guard let decision = OutboxDecision(rawValue: "outbox-\(context.members["do"]?.text ?? "")") else {
                    throw Problem(.badRequest, .usage, "outbox: do: allowed are \"add\", \"remove\", \"hold\"")
                }
                let take = try TakeReference(reading: context.parameter("take"), for: decision.rawValue)
                return try await answer { library in try library.carryOut(decision, of: take) }
            },
            Route(.post, "/api/takes/{take}/accept-damaged", for: .all) { _, context in
                Response(jsonText: try await library.acceptDamaged(context.parameter("take")).json)
            },
            Route(.post, "/api/stick/adopt", for: .all) { _, context in
                let (reply, isNew) = try await library.adoptStick(by: context.phone?.name)
                if isNew { await news.report(PhoneEvent(.stick, by: context.phone?.name)) }
                return Response(jsonText: try reply.json)
            },
            Route(.get, "/api/outbox", for: .look, query: ["limit"]) { _, context in
                let limit = try LibraryMessage.outboxLimit(context.query.members(numbers: ["limit"], booleans: []))
                return try await answer { library in try library.outbox(limit: limit) }
            },
        ]
            + OutboxWish.allCases.map { wish in
                Route(.post, "/api/outbox/\(wish.rawValue.dropFirst("outbox-".count))", for: .all) { _, _ in
                    try await answer { library in try library.carryOut(wish) }
                }
            }
    }

    /// The allowed conditions of a list.
    private static let conditions = [
        "q", "text", "tag", "starred", "marker", "label", "since", "until", "hour_from", "hour_to", "zone",
        "least_seconds", "most_seconds", "longer", "shorter", "louder", "kit", "place", "upload", "damaged",
        "sort", "order", "descending", "limit", "after",
    ]

    /// The keys of a marker to set.
    static let markerKeys = ["at_frame", "note", "end_frame", "low_hz", "high_hz"]

    /// Asks the library on a thread that may wait for the disk.
    private func answer(
        _ ask: @escaping @Sendable (LibraryDesk) throws -> any LibraryReply
    ) async throws -> Response {
        Response(jsonText: try await pool.runIfActive { try ask(library).json })
    }

    /// The changes of a take's notes that a body asks for, at least one.
    private static func changes(_ members: [String: JSONValue]) throws -> [NotesChange] {
        var changes: [NotesChange] = []
        if members["memo"] != nil || members["memo_was"] != nil { changes.append(try NotesChange(.memo, members)) }
        if members["title"] != nil { changes.append(try NotesChange(.title, members)) }
        if members["starred"] != nil { changes.append(try NotesChange(.star, members)) }
        if members["add"] != nil || members["remove"] != nil { changes.append(try NotesChange(.tag, members)) }
        if let markers = members["markers"] {
            guard case .object(let members) = markers, members.keys.allSatisfy({ $0 == "set" || $0 == "remove" }) else {
                throw Problem(.badRequest, .usage, "markers: allowed is an object with set, remove, or both")
            }
            if case .array(let setting)? = members["set"] {
                for case .object(let marker) in setting { try marker.checkKeys(Self.markerKeys) }
            }
            changes.append(try NotesChange(.markers, members))
        }
        guard !changes.isEmpty else {
            throw Problem(
                .badRequest, .usage, "console: nothing to change: send title, memo, starred, add, remove or markers")
        }
        return changes
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
