import Control
import DiskCalls
import FinishedTakes
import GRDB
import Logging
import ServiceLifecycle
import Synchronization
import TakeFiles
import Takes
import Testing
import Transport
import Workers

@testable import Catalog
@testable import Library

/// Runs a blocking closure on a separate thread, so that it does not block the threads of other tests.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
        do {
            // The thread is not joined; it ends by itself.
            _ = try Thread(name: "client") { continuation.resume(with: Result(catching: body)) }
        } catch {
            continuation.resume(throwing: error)
        }
    }
}

@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) struct LibraryServerTests {
    private let tested: TestedIndexer
    private let requests: LibraryRequests
    private let stem: String

    init() async throws {
        tested = try TestedIndexer()
        stem = try tested.disk.add(TakesOnDisk.sidecar(1, markers: ["wren"])).stem
        try tested.disk.add(TakesOnDisk.sidecar(1, kit: "wren01"))
        requests = tested.requests {}
    }

    private func refusal(_ change: NotesChange, of take: TakeReference) -> Refusal? {
        do throws(Refusal) {
            _ = try requests.change(take, [change], for: change.kind.rawValue)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a take that is not found is refused: busy before the first scan, not found after it`() async {
        let early = Refusal(.busy, "show: 9: not found yet, the library still reads the takes: try again")
        #expect(throws: early) { try requests.show(.number(9)) }
        await tested.indexer.scanAll()
        #expect(throws: Refusal(.notFound, "show: 9: the library knows no such take")) {
            try requests.show(.number(9))
        }
    }

    @Test func `a number that two kits have is refused, with the stems`() async {
        await tested.indexer.scanAll()
        let message = "star: 1: there are 2: \(stem), wren01-0001_20261121_061811: name one by its stem"
        #expect(refusal(.starred(true), of: .number(1)) == Refusal(.badData, message))
    }

    @Test func `a request that the database fails is refused with its file, the reason, and what to do`() async throws {
        await tested.indexer.scanAll()
        try await tested.catalog.database.write { try $0.execute(sql: "ALTER TABLE take RENAME TO other") }
        let message = """
            show: catalog: cannot read \(Catalog.databasePath(in: tested.disk.library)): no such table: take (SQLite error 1): \
            stop the library, and build it again with 'fieldfare-library --rebuild'
            """
        #expect(throws: Refusal(.io, message)) { try requests.show(.number(9)) }
    }

    @Test func `more tags than allowed are refused`() async {
        await tested.indexer.scanAll()
        let tags = (0..<50).map { "tag \($0)" }
        #expect(refusal(.tags(adding: tags, removing: []), of: .stem(stem)) == nil)
        #expect(
            refusal(.tags(adding: ["one more"], removing: []), of: .stem(stem))
                == Refusal(.usage, "tag: \(stem) would have 51 tags, allowed are 50"))
        #expect(refusal(.tags(adding: ["one more"], removing: ["tag 7"]), of: .stem(stem)) == nil)
    }

    @Test func `markers are set and removed up to the end of a take, also between its parts and behind a jump`()
        async throws
    {
        var sidecar = TakesOnDisk.sidecar(2, started: TakesOnDisk.morning + .seconds(60), seconds: 1)
        let name = TakesOnDisk.name(sidecar)
        var second = sidecar.parts[0]
        second.file = name.audioFile(part: 2)
        // At half the rate, and 3 s after the first part ended. The part is 2 s long.
        (second.rateHz, second.frames, second.firstFrame) = (24_000, 48_000, TakeFrame(4 * 48_000))
        sidecar.parts.append(second)
        sidecar.frames = 3 * 48_000
        let (end, recorded) = (Int64(6 * 48_000), TakeFrame(5 * 48_000))
        sidecar.markers = [Sidecar.Marker(atFrame: recorded, note: "wren")]
        try tested.disk.add(sidecar)
        await tested.indexer.scanAll()
        for frame in [2 * 48_000, 4 * 48_000, end] as [Int64] {
            let marker = TakeNotes.MarkerChange(atFrame: TakeFrame(frame), note: "owl")
            #expect(refusal(.markers(setting: [marker], removing: []), of: .stem(name.stem)) == nil, "\(frame)")
        }
        #expect(refusal(.markers(setting: [], removing: [recorded]), of: .stem(name.stem)) == nil)
        #expect(
            try tested.catalog.notes(of: name.stem).markers(of: sidecar.markers).map(\.note) == ["owl", "owl", "owl"])
        let late = TakeNotes.MarkerChange(atFrame: TakeFrame(end + 1), note: nil)
        #expect(
            refusal(.markers(setting: [late], removing: []), of: .stem(name.stem))
                == Refusal(
                    .usage, "markers: \(name.stem) has frames 0 to \(end): \(end + 1) lies behind its end"))
    }

    @Test func `a region is set within the take and below half its rate, and stays when its note changes`() async throws
    {
        await tested.indexer.scanAll()
        func set(_ region: TakeNotes.RegionChange, note: String? = nil) -> Refusal? {
            let marker = TakeNotes.MarkerChange(atFrame: TakeFrame(100), note: note, region: region)
            return refusal(.markers(setting: [marker], removing: []), of: .stem(stem))
        }
        func region(to end: Int64, _ highHz: Double = 24_000) throws -> TakeNotes.RegionChange {
            .set(try MarkedRegion(from: TakeFrame(100), to: TakeFrame(end), lowHz: 1500, highHz: highHz))
        }
        #expect(try set(region(to: 480_000), note: "owl") == nil)
        #expect(set(.kept, note: "wren") == nil)
        var expected = Sidecar.Marker(atFrame: TakeFrame(100), note: "wren")
        (expected.endFrame, expected.lowHz, expected.highHz) = (TakeFrame(480_000), 1500, 24_000)
        let shown = try requests.show(.stem(stem))
        #expect(shown.markers == [Sidecar.Marker(atFrame: .first, note: "wren"), expected])
        let name = "markers: \(stem): the marker at frame 100"
        let late = "\(name): end_frame: found 480001, allowed is at most 480000, the end of the take"
        #expect(try set(region(to: 480_001)) == Refusal(.usage, late))
        let high = "\(name): high_hz: found 24000.5, allowed is at most 24000.0 Hz, half the take's rate"
        #expect(try set(region(to: 200, 24_000.5)) == Refusal(.usage, high))
        #expect(set(.removed) == nil)
        let point = Sidecar.Marker(atFrame: TakeFrame(100), note: nil)
        #expect(try requests.show(.stem(stem)).markers.last == point)
    }

    @Test func `of several changes one of which is refused, none is made`() async throws {
        await tested.indexer.scanAll()
        let late = TakeNotes.MarkerChange(atFrame: TakeFrame(1 << 40), note: nil)
        let changes: [NotesChange] = [
            .memo("near the mill"), .starred(true), .tags(adding: ["dawn"], removing: []),
            .markers(setting: [late], removing: []),
        ]
        let before = try tested.catalog.notes(of: stem)
        #expect(throws: Refusal.self) { try requests.change(.stem(stem), changes, for: "take") }
        #expect(try tested.catalog.notes(of: stem) == before)
        _ = try requests.change(.stem(stem), Array(changes.dropLast()), for: "take")
        let notes = try tested.catalog.notes(of: stem)
        #expect(notes.memo == "near the mill" && notes.starred && notes.tags == ["dawn"] && notes.currentRevision == 1)
    }

    @Test func `a page that ends nowhere is refused`() async {
        var query = TakeQuery()
        query.after = "x"
        #expect(throws: Refusal(.usage, "takes: after: found x, allowed is what 'next' of a page says")) {
            try requests.takes(query)
        }
    }

    @Test func `what was kept beside a memo goes with it`() async throws {
        await tested.indexer.scanAll()
        _ = try tested.catalog.note(stem) { $0.otherMemos = ["by the lake"] }
        _ = try requests.change(.stem(stem), [.memo("by the river")], for: "memo")
        #expect(try tested.catalog.notes(of: stem).otherMemos == ["by the lake"])
        for _ in 0..<2 { _ = try requests.change(.stem(stem), [.memo(nil)], for: "memo") }
        let notes = try tested.catalog.notes(of: stem)
        #expect(notes.memo == nil && notes.otherMemos == nil && notes.currentRevision > 1)
    }

    @Test func `peers are served over the socket, and what they note is found`() async throws {
        await tested.indexer.scanAll()
        let path = "\(tested.disk.path)/library.sock"
        let log = tested.log
        let server = LibraryServer(
            path: path, requests, try tested.remote, try tested.deletion(requests), try tested.sticks,
            log: Logger(label: "test") { _ in log })
        try server.listen()
        let group = ServiceGroup(
            services: [server], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await group.run() }
        let stem = stem
        let takes = tested.disk.takes
        let mark = try #require(Storage(at: takes)).mark
        try await onThread {
            let client = try PeerClient<LibraryMessage>(path: path)
            _ = try client.ask(.change(.stem(stem), .memo("near the mill")))
            _ = try client.ask(.change(.stem(stem), .tags(adding: ["dawn"], removing: [])))
            _ = try client.ask(.change(.stem(stem), .starred(true)))
            var query = TakeQuery()
            query.text = "mill"
            let page = try client.ask(.takes(query))
            #expect(page["next"] == .null)
            guard case .array(let found)? = page["takes"] else { return #expect(Bool(false), "no list: \(page)") }
            #expect(found.map { $0["take"] } == [.string(stem)])
            #expect(found.first?["tags"] == .array([.string("dawn")]))
            let shown = try client.ask(.show(.stem(stem)))
            #expect(shown["notes"]?["memo"] == .string("near the mill"))
            #expect(shown["sidecar"]?["take"] == .string(stem))
            let status = try client.ask(.status)
            #expect(status["takes"] == .integer(2))
            #expect(status["scan"] == .null)
            #expect(
                status["directories"]
                    == .array([["path": .string(takes), "storage": .string(mark)]].map { .object($0) }))
        }
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(log.lines == [])
    }

    @Test func `a socket that another library has is reported, and the rest goes on`() async throws {
        let path = "\(tested.disk.path)/library.sock"
        let log = tested.log
        let deletion = try tested.deletion(requests)
        let first = LibraryServer(
            path: path, requests, try tested.remote, deletion, try tested.sticks,
            log: Logger(label: "test") { _ in log })
        let second = LibraryServer(
            path: path, requests, try tested.remote, deletion, try tested.sticks,
            log: Logger(label: "test") { _ in log })
        try first.listen()
        #expect(throws: ControlError.self) { try second.listen() }
    }
}
