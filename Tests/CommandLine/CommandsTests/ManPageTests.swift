import Control
import Files
import Takes
import Testing

@testable import Commands

/// The documentation matches the commands.
@Suite struct ManPageTests {
    private func text(_ path: String) throws -> String {
        let top = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        return String(decoding: try FileSystem().contents("\(top)/\(path)"), as: UTF8.self)
    }

    @Test func `fieldfare(1) describes every command, and no other`() throws {
        let described = try text("deploy/man/fieldfare.1").matches(of: /\n\.It Cm ([a-z-]+)/).map {
            String($0.output.1)
        }
        #expect(Set(described) == Fieldfare.commandNames)
    }

    @Test(arguments: Fieldfare.commandNames.sorted())
    func `fieldfare(1) names every option of a command`(command: String) throws {
        let page = try text("deploy/man/fieldfare.1")
        let help = run([command, "--help"]).output.joined(separator: "\n")
        let options = help.matches(of: /\n +(?:-h, )?--([a-z-]+)/).map { String($0.output.1) }
        #expect(!options.isEmpty)
        for option in Set(options) where option != "no" { #expect(page.contains("Fl Fl \(option)"), "--\(option)") }
    }

    @Test(arguments: [
        "README.md", "deploy/HARDWARE.md", "deploy/INSTALL.md", "deploy/USING.md", "deploy/man/fieldfare.1",
        "deploy/man/fieldfare-recorder.8", "deploy/man/fieldfare.toml.5", "deploy/man/fieldfare-takes.5",
        "deploy/man/fieldfare-stores.7", "deploy/man/fieldfare-outbox.7", "deploy/man/fieldfare-library.8",
    ])
    func `a text names only commands that there are`(path: String) throws {
        let named = try text(path).matches(of: /[`\n l]fieldfare ([a-z]+)/).map { String($0.output.1) }
        #expect(!named.isEmpty)
        #expect(Set(named).subtracting(Fieldfare.commandNames) == [])
    }

    private static let outbox = "deploy/man/fieldfare-outbox.7"

    @Test func `fieldfare-outbox(7) names each action on the outbox, and only actions that there are`() throws {
        let found = try text(Self.outbox).matches(of: /fieldfare (outbox|remote) ([a-z]+)/)
        let named = Set(found.map { "\($0.output.1) \($0.output.2)" })
        for words in named {
            let help = run(words.split(separator: " ").map(String.init) + ["--help"]).output.joined(separator: "\n")
            #expect(help.contains("USAGE: fieldfare \(words)"), "\(words)")
        }
        let actions = OutboxWish.allCases.map(\.rawValue) + OutboxDecision.allCases.map(\.rawValue)
        #expect(Set(actions.map { $0.replacing("-", with: " ") }).subtracting(named) == [])
    }

    @Test func `fieldfare-outbox(7) describes every state of a take, and no other`() throws {
        let states =
            OutboxReport.Take.State.allCases.map(\.rawValue) + UploadStanding.allCases.map(\.rawValue)
            + TakeQuery.Upload.allCases.map(\.rawValue)
        #expect(try outboxItems("States of a take") == Set(states))
    }

    @Test func `fieldfare-outbox(7) describes every state of a store, with the words that are printed`() throws {
        let states = OutboxReport.Store.State.allCases
        #expect(try outboxItems("States of a store") == Set(states.map(\.rawValue)))
        let page = try text(Self.outbox)
        for state in states {
            let report = OutboxReport(paused: false, stores: [store(state)], takes: [])
            let words = OutboxText(showsUnicode: false).lines(report)[0].split(separator: ": ")[1]
            #expect(page.contains("\n.It \(state.rawValue)\n.Dq \(words) :\n"), "\(words)")
        }
    }

    @Test func `fieldfare-outbox(7) describes every request about the outbox and the stores, and no other`() throws {
        let requests = LibraryMessage.names.filter { $0.hasPrefix("outbox") || $0.hasPrefix("remote") }
        #expect(try outboxItems("Requests") == Set(requests))
    }

    @Test func `fieldfare-outbox(7) describes every key of a report, and no other`() throws {
        let store = store(.waiting)
        let take = OutboxReport.Take(
            take: "heron07-0042_20261121_061811", store: "stick", state: .held, bytes: 2, sentBytes: 1, why: "full",
            until: "2026-11-21T07:00:00.000000Z")
        let report = OutboxReport(paused: true, stores: [store], takes: [take])
        let keys = try keys(report).union(keys(store)).union(keys(take))
        #expect(try outboxItems("A report") == keys)
    }

    @Test func `fieldfare-outbox(7) describes every key of a piece, and no other`() throws {
        let object = RemoteObject(
            path: "2026-11-21/heron07-0042_20261121_061811.wav", bytes: 1, sha256: "00",
            started: "2026-11-21T06:18:11.000000Z", durationSeconds: 1)
        let piece = RemotePiece(store: "stick", objects: [object], data: "AA==", sha256: "00", isLast: true)
        let keys = try keys(piece).union(keys(object))
        #expect(try outboxItems("A piece") == keys)
    }

    @Test func `fieldfare-outbox(7) describes every key of a receipt, and no other`() throws {
        var notes = TakeNotes(take: "heron07-0042_20261121_061811")
        notes[receiptOf: "stick"] = .init(store: "stick")
        var receipt = try #require(notes[receiptOf: "stick"])
        receipt.stick = "0123456789abcdef0123456789abcdef"
        receipt.completed = "2026-11-21T07:00:00.000000Z"
        (receipt.revision, receipt.notesRevision) = (2, 1)
        receipt.files = [
            .init(file: "heron07-0042_20261121_061811.wav", bytes: 1, sha256: "00", modifiedNs: 1, mark: "00")
        ]
        receipt.attempts = receipt.files
        receipt.unverified = .init(why: "not shown", files: ["heron07-0042_20261121_061811.wav"])
        receipt.unverified?.sent = "2026-11-21T07:00:00.000000Z"
        let unverified = try #require(receipt.unverified)
        let keys = try keys(receipt).union(keys(receipt.files[0])).union(keys(unverified))
        #expect(try outboxItems("A receipt") == keys)
    }

    private func store(_ state: OutboxReport.Store.State) -> OutboxReport.Store {
        .init(
            store: "stick", state: state, why: nil, until: nil, waiting: 1, waitingBytes: 1, elsewhere: 1, held: 1,
            done: 1, unverified: 1, whyUnverified: "not shown")
    }

    /// The keys of a value's JSON. Fails if a key is missing because its value is nil.
    private func keys(_ value: some Encodable) throws -> Set<String> {
        guard case .object(let members) = try JSONValue(encoding: value) else { return [] }
        #expect(members.count == Mirror(reflecting: value).children.count, "\(value)")
        return Set(members.keys)
    }

    /// The items in the lists of a subsection of fieldfare-outbox(7).
    private func outboxItems(_ title: String) throws -> Set<String> {
        let lines = try text(Self.outbox).split(separator: "\n")
        let start = try #require(lines.firstIndex { $0 == ".Ss \(title)" })
        let part = lines[(start + 1)...].prefix { !$0.hasPrefix(".Ss ") && !$0.hasPrefix(".Sh ") }
        let items = part.filter { $0.hasPrefix(".It ") }.flatMap { $0.dropFirst(4).split(separator: " , ") }
        // An item of several words is a command or a sentence.
        return Set(items.filter { !$0.contains(" ") }.map(String.init))
    }

    @Test func `the README has fewer than 200 lines`() throws {
        #expect(try text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 200)
    }

    @Test(arguments: ["README.md", "deploy/README.md", "deploy/HARDWARE.md", "deploy/INSTALL.md", "deploy/USING.md"])
    func `every file that a page links to is there`(path: String) throws {
        let folder = path.split(separator: "/").dropLast().joined(separator: "/")
        let links = try text(path).matches(of: /\]\(([^)#:]+)[)#]/).map { String($0.output.1) }
        #expect(!links.isEmpty)
        for link in links { #expect(try !text("\(folder)/\(link)").isEmpty, "\(link)") }
    }

    @Test(arguments: ["README.md", "deploy/HARDWARE.md", "deploy/pictures/wiring.svg"])
    func `a page about wiring has the lines of the example settings`(path: String) throws {
        let settings = try text("deploy/fieldfare.example.toml")
        let lines = settings.matches(of: /\n[a-z]+ *= \{ line = "(GPIO[0-9]+)"/).map { String($0.output.1) }
        #expect(lines.count == 9)
        let page = try text(path)
        for line in lines { #expect(page.contains(line), "\(line)") }
    }
}
