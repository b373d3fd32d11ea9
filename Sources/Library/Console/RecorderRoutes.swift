import Control
import FoundationEssentials
import Hummingbird
import HummingbirdCore
import NIOCore
import Takes
import Transport

/// The recorder's answers: its state, lists of the kit, and all actions of the buttons and the command line.
struct RecorderRoutes: Sendable {
    let recorder: RecorderDesk

    /// The requests of `/api/deck/`: the recorder's names for them, and their keys.
    private static let commands: [(path: String, command: String, keys: [String])] = [
        ("record", "record", ["ago_ms", "raw_ns"]), ("stop", "stop", []),
        ("pause", "pause", []), ("eject", "eject", []), ("play", "play", ["take"]), ("skip", "skip", ["seconds"]),
        (
            "mark", "mark",
            ["note", "take", "at_frame", "ago_ms", "raw_ns", "end_frame", "label", "by", "score", "low_hz", "high_hz"]
        ),
        ("select", "select", ["take"]),
        ("filter", "filter", ["low_pass_hz", "slope_db_per_octave", "high_pass_hz"]),
        ("volume", "volume", ["volume"]), ("pitch", "pitch", ["cents"]), ("speed", "speed", ["factor", "expand"]),
        ("gain", "gain", ["gain_db", "agc"]), ("light", "light", ["lamp"]), ("clock", "clock-set", ["time"]),
    ]

    var routes: [Route] {
        [
            Route(.get, "/api/status", for: .look) { [recorder] _, _ in
                Response(json: try await recorder.object(.status))
            }
        ]
            + Inventory.allCases.map { inventory in
                Route(.get, "/api/\(inventory.rawValue)", for: .look) { [recorder] _, _ in
                    Response(json: try await recorder.object(.inventory(inventory)))
                }
            }
            + Self.commands.map { path, command, keys in
                Route(.post, "/api/deck/\(path)", for: .all, takes: .json(keys)) { [recorder] _, context in
                    var members = context.members
                    members["command"] = .string(command)
                    return Response(json: try await recorder.object(try RecorderMessage(members)))
                }
            }
    }
}

/// Server-sent events of the recorder.
struct EventRoutes: Sendable {
    let feed: RecorderFeed

    /// The interval of a comment line, which detects a lost connection.
    private static let heartbeat = Duration.seconds(15)

    var routes: [Route] {
        [
            Route(.get, "/api/events", for: .look) { [feed] request, context in
                guard request.method == .get else {
                    return Response(status: .ok, headers: [.contentType: "text/event-stream"])
                }
                let watching: Watching
                do {
                    watching = try Watching(feed)
                } catch {
                    throw Problem(.serviceUnavailable, .busy, "console: \(error): close other pages of the kit")
                }
                let body = ResponseBody { writer in
                    try await Self.stream(watching.watcher, to: &writer, while: context.mayGoOn)
                    try await writer.finish(nil)
                }
                return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
            }
        ]
    }

    private static func stream(
        _ watcher: Watcher, to writer: inout any ResponseBodyWriter, while mayGoOn: @Sendable () -> Bool
    ) async throws {
        let heart = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: heartbeat)
                watcher.beat()
            }
        }
        defer { heart.cancel() }
        // A disconnected browser reconnects after this many milliseconds.
        try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
        // A phone that was removed meanwhile receives nothing more.
        while let events = await watcher.next(), mayGoOn() {
            var buffer = ByteBuffer()
            for event in events { buffer.writeBytes(event.text) }
            if events.isEmpty { buffer.writeString(": \n\n") }
            try await writer.write(buffer)
        }
    }
}

/// A watcher of the recorder's events, which ends with its last reference. A browser that is gone before its answer
/// begins therefore leaves no watcher behind.
private final class Watching: Sendable {
    let watcher: Watcher
    private let feed: RecorderFeed

    init(_ feed: RecorderFeed) throws {
        self.feed = feed
        watcher = try feed.watch()
    }

    deinit { feed.end(watcher) }
}
