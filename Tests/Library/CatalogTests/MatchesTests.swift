import DiskCalls
import Files
import FinishedTakes
import GRDB
import Takes
import Testing
import Transport

@testable import Catalog

/// The markers that a search found.
@Suite(.waitsOnNamedThreads) struct MatchesTests {
    private let takes: CatalogedTakes
    private let stem: String

    init() throws {
        takes = try CatalogedTakes()
        var sidecar = TakesOnDisk.sidecar(17, markers: ["dawn chorus"])
        sidecar.markers += [
            Sidecar.Marker(atFrame: TakeFrame(100), note: nil), Sidecar.Marker(atFrame: TakeFrame(200), note: "a Wren"),
            Sidecar.Marker(atFrame: TakeFrame(300), note: "a wren, singing\nin the öre"),
        ]
        var robin = Sidecar.Marker(atFrame: TakeFrame(400), note: nil)
        robin.label = "robin"
        robin.by = "BirdNET"
        sidecar.markers.append(robin)
        stem = try takes.add(sidecar)
        try takes.add(TakesOnDisk.sidecar(18, started: TakesOnDisk.morning + .seconds(60), markers: ["owl"]))
    }

    private func matches(_ change: (inout TakeQuery) -> Void) throws -> [String] {
        var query = TakeQuery()
        change(&query)
        return try takes.catalog.page(query).takes().map { take in
            take.match.map { "\(take.number) \($0.atFrame.count) \($0.note)" } ?? "\(take.number) none"
        }
    }

    @Test func `the marker with most of the words is named, or the first of those`() throws {
        #expect(try matches { $0.typed = "wren" } == ["17 200 a Wren"])
        #expect(try matches { $0.typed = "sing wr" } == ["17 300 a wren, singing\nin the öre"])
        #expect(try matches { $0.typed = "ore" } == ["17 300 a wren, singing\nin the öre"])
        #expect(try matches { $0.typed = "dawn wren chorus" } == ["17 0 dawn chorus"])
        #expect(try matches { $0.label = "DAWN chor" } == ["17 0 dawn chorus"])
        #expect(try matches { $0.label = "rob" } == ["17 400 robin"])
        #expect(try matches { $0.label = "birdnet" } == ["17 400 robin"])
        #expect(try matches { $0.text = "wren" } == ["17 none"])
        #expect(try matches { $0.marker = "" } == ["18 none", "17 none"])
        #expect(try matches { _ in } == ["18 none", "17 none"])
    }

    @Test func `words that are only in the memo, or a number, name no marker`() throws {
        _ = try takes.catalog.note(stem) { notes in
            notes.memo = "by the mill"
            notes.setMarker(.init(atFrame: TakeFrame(250), note: "17 wrens"))
        }
        #expect(try matches { $0.typed = "mill" } == ["17 none"])
        #expect(try matches { $0.typed = "mill dawn" } == ["17 none"])
        #expect(try matches { $0.typed = "18" } == ["18 none"])
        #expect(try matches { $0.typed = "17" } == ["17 250 17 wrens"])
        #expect(try matches { $0.label = "wrens" } == ["17 250 17 wrens"])
    }

    @Test func `an entry with a match stays an object, and a stored one has none`() throws {
        var query = TakeQuery()
        query.typed = "wren"
        let entry = try #require(try takes.catalog.page(query).entries.first)
        #expect(entry.hasSuffix(#","match":{"at_frame":200,"note":"a Wren"}}"#))
        #expect(try takes.catalog.find(.stem(stem)).map(\.match) == [nil])
    }

    @Test func `a take whose notes or sidecar cannot be read is found all the same, without its marker`() throws {
        _ = try FileSystem().makeFolder("\(takes.disk.library)/takes/\(stem).json")
        #expect(try matches { $0.typed = "wren" } == ["17 none"])
        // Earlier versions stored sidecars that SQLite does not accept as JSON.
        try takes.catalog.database.write { database in
            try database.execute(sql: "UPDATE sidecar SET json = ?", arguments: ["\u{feff}{}"])
        }
        #expect(try matches { $0.typed = "owl" } == ["18 none"])
    }

    @Test(arguments: ["", "wren", "dawn chorus\nw", "\u{1}", "dawn chorus\n\u{1}x\u{2}"])
    func `a text that is not that of the markers names none`(text: String) {
        let markers = ["dawn chorus", "wren"].map { Sidecar.Marker(atFrame: .first, note: $0) }
        #expect(MarkedText(text).best(of: markers) == nil)
    }
}
