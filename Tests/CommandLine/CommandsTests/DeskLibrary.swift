import Control
import Glibc
import Takes
import TestBench
import Transport
import Workers

/// A library that keeps its takes in memory, on its own thread and socket.
final class DeskLibrary {
    let path: String
    /// The fingerprint of its console's certificate.
    static let fingerprint = Array(repeating: "A7", count: 32).joined(separator: ":")
    private let scratch = TestFolder()
    private var thread: Thread?
    private let ending: [Int32]
    let desk = Desk()

    final class Desk: Sendable {
        let messages = Locked<[LibraryMessage]>([])
        let takes = Locked<[CatalogedTake]>([])
        let sidecars = Locked<[String: JSONValue]>([:])
        /// The progress of its scan, the number of folders read.
        let scan = Locked<JSONValue>(.null)
        /// Takes that it cannot use.
        let problems = Locked<[(take: String, problem: String)]>([])
        let outbox = Locked(OutboxReport(paused: false, stores: [], takes: []))
        /// The refusal for every request except the status.
        let refusal = Locked<Refusal?>(nil)
    }

    var messages: [LibraryMessage] { desk.messages.withLock { $0 } }

    init(_ takes: [CatalogedTake] = []) throws {
        path = scratch.path + "/library.sock"
        var ends: [Int32] = [-1, -1]
        unsafe pipe(&ends)
        ending = ends
        desk.takes.withLock { $0 = takes }
        let (end, desk) = (ends[0], desk)
        let serving = Serving(try PeerServer(path: path), DeskHandler(desk))
        thread = try Thread(name: "library") { serving.run(until: end) }
    }

    deinit {
        var byte: UInt8 = 0
        _ = unsafe Glibc.write(ending[1], &byte, 1)
        thread?.join()
        for end in ending { close(end) }
    }

    /// Carries the server to its thread, which alone uses it.
    private struct Serving: @unchecked Sendable {
        let server: PeerServer<LibraryMessage>
        let handler: DeskHandler

        init(_ server: PeerServer<LibraryMessage>, _ handler: DeskHandler) {
            self.server = server
            self.handler = handler
            server.handler = handler
        }

        func run(until end: Int32) {
            while true {
                var files = [
                    pollfd(fd: server.fileDescriptor, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: end, events: Int16(POLLIN), revents: 0),
                ]
                let now = SystemClock().now()
                let next = server.turn(now).map { Int32(clamping: ($0 - now).nanoseconds / 1_000_000 + 1) }
                unsafe poll(&files, 2, next ?? -1)
                if files[1].revents != 0 { return }
                server.serve(SystemClock().now())
            }
        }
    }
}

private final class DeskHandler: PeerHandler {
    private let desk: DeskLibrary.Desk

    init(_ desk: DeskLibrary.Desk) {
        self.desk = desk
    }

    private struct Page: Encodable {
        var takes: [CatalogedTake]
        var next: String?
    }

    private struct Shown: Encodable {
        var take: CatalogedTake
        var notes: TakeNotes?
        var sidecar: JSONValue?
    }

    func carryOut(_ message: LibraryMessage, of peer: PeerID, answer: Answer) {
        desk.messages.withLock { $0.append(message) }
        if message != .status, let refusal = desk.refusal.withLock({ $0 }) { return answer.refuse(refusal) }
        switch message {
        case .status:
            let directory = JSONValue.object(["path": .string("/desk/takes"), "storage": .string("internal")])
            let problems = desk.problems.withLock { $0 }.map { problem in
                JSONValue.object(["take": .string(problem.take), "problem": .string(problem.problem)])
            }
            answer.succeed(object: [
                "directories": .array([directory]), "scan": desk.scan.withLock { $0 }, "problems": .array(problems),
                "problem_count": .integer(problems.count),
            ])
        case .takes(let query):
            // It pages like the library, and ignores all conditions except the place.
            let takes = desk.takes.withLock { $0 }.filter { query.place == nil || query.place == $0.place }
            let start = query.after.flatMap(Int.init) ?? 0
            let end = min(takes.count, start + query.limit)
            answer.succeed(
                object: Page(takes: Array(takes[start..<end]), next: end < takes.count ? String(end) : nil))
        case .show(let reference):
            change(reference, answer) { _ in }
        case .change(let reference, let wanted):
            change(reference, answer) { notes in
                switch wanted {
                case .memo(let memo, _): notes.memo = memo
                case .tags(let adding, let removing): notes.tag(adding: adding, removing: removing)
                case .markers(let setting, _): for marker in setting { notes.setMarker(marker) }
                case .starred(let isStarred): notes.starred = isStarred
                case .title(let title): notes.setTitle(title)
                }
            }
        case .outbox, .outboxWish:
            answer.succeed(object: desk.outbox.withLock { $0 })
        case .outboxDecision(_, let reference):
            change(reference, answer) { _ in }
        case .delete(let stem, _):
            // It only removes the take from its list.
            let isKnown = desk.takes.withLock { takes in
                let count = takes.count
                takes.removeAll { $0.take == stem }
                return takes.count < count
            }
            isKnown
                ? answer.succeed(object: JSONValue.object([:]))
                : answer.refuse(Refusal(.notFound, "delete: \(stem): the library knows no such take"))
        case .acceptDamaged(let stem):
            let accepted = desk.takes.withLock { takes -> CatalogedTake? in
                guard let place = takes.firstIndex(where: { $0.take == stem }) else { return nil }
                (takes[place].sound, takes[place].damaged) = (.accepted, nil)
                return takes[place]
            }
            guard let accepted else { return answer.refuse(Refusal(.notFound, "takes: \(stem): no such take")) }
            answer.succeed(object: Shown(take: accepted, notes: nil, sidecar: nil))
        case .adoptStick: answer.succeed(object: ["stick": "0123456789abcdef0123456789abcdef"])
        case .pairingCode(let isNew):
            answer.succeed(object: ["code": isNew ? "000007" : "123456", "fingerprint": DeskLibrary.fingerprint])
        case .remote: answer.refuse(Refusal(.notFound, "remote: no store is named: [outbox] store"))
        }
    }

    private func change(_ reference: TakeReference, _ answer: Answer, _ change: (inout TakeNotes) -> Void) {
        let shown = desk.takes.withLock { takes -> Shown? in
            let place = takes.lastIndex { take in
                reference == .last || reference == .stem(take.take) || reference == .number(take.number)
            }
            guard let place else { return nil }
            var notes = TakeNotes(take: takes[place].take)
            (notes.title, notes.memo) = (takes[place].title, takes[place].memo)
            (notes.tags, notes.starred) = (takes[place].tags, takes[place].starred)
            change(&notes)
            (takes[place].title, takes[place].memo) = (notes.title, notes.memo)
            (takes[place].tags, takes[place].starred) = (notes.tags, notes.starred)
            return Shown(
                take: takes[place], notes: notes, sidecar: desk.sidecars.withLock { $0[takes[place].take] })
        }
        guard let shown else { return answer.refuse(Refusal(.notFound, "library: \(reference): no such take")) }
        answer.succeed(object: shown)
    }
}

/// A take as the library reports it.
func deskTake(_ number: Int, _ change: (inout CatalogedTake) -> Void = { _ in }) -> CatalogedTake {
    let started = WallTime(microseconds: 1_795_241_891_250_000)
    let name = TakeName(kit: "heron07", number: number, started: started)
    var sidecar = Sidecar(
        name: name, started: started,
        startedMonotonic: Instant(nanoseconds: 0), bootID: "boot", clock: .ntp, card: "usb:0d8c:0014",
        format: StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s16), preRollFrames: 0, gainDB: nil, agc: nil,
        version: "0")
    sidecar.endedBy = .stop
    sidecar.frames = 96_000
    sidecar.durationSeconds = 2
    var take = CatalogedTake(
        sidecar, notes: TakeNotes(take: name.stem), bytes: 384_044, folder: "/desk/takes/2026-11-21", place: .here)
    change(&take)
    return take
}
