import DiskCalls
import FinishedTakes
import GRDB
import TakeFiles
import Takes
import Testing
import Transport

@testable import Catalog

/// The levels and spans of takes in the catalog, also after a version that does not know them.
@Suite(.waitsOnNamedThreads) struct LevelsTests {
    private let takes: CatalogedTakes

    init() throws { takes = try CatalogedTakes() }

    /// Adds a take with these peaks: nil for a silent channel.
    @discardableResult
    private func add(_ number: Int, _ peaks: [Double?]) throws -> String {
        try takes.add(Self.sidecar(number, peaks))
    }

    private static func sidecar(_ number: Int, _ peaks: [Double?]) -> Sidecar {
        var sidecar = TakesOnDisk.sidecar(number, started: TakesOnDisk.morning + .seconds(number * 60))
        sidecar.levels = peaks.map { peak in
            Sidecar.Levels(
                peakDBFS: peak, rmsDBFS: peak.map { $0 * 2 }, clippedFrames: 0, filterClippedFrames: 0)
        }
        return sidecar
    }

    /// All columns of all rows, without the row ids.
    private func rows(_ catalog: Catalog) throws -> [String] {
        try catalog.database.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM take ORDER BY number").map { row in
                row.filter { $0.0 != "id" }.map { "\($0.0)=\($0.1)" }.joined(separator: "|")
            }
        }
    }

    private func columns(_ catalog: Catalog) throws -> [[Int]] {
        try catalog.database.read { database in
            try Row.fetchAll(database, sql: "SELECT loudness, quietness FROM take ORDER BY number").map {
                [$0[0], $0[1]]
            }
        }
    }

    private static let expected = [
        [-12_346, -12_346], [-1_000_000, -1_000_000], [-10_000_000, 10_000_000], [200, 200],
    ]

    private static let peaks: [[Double?]] = [[-20, -12.3456], [nil, nil], [], [0.2, nil]]

    private func addAll() throws {
        for (index, peaks) in Self.peaks.enumerated() { try add(index + 1, peaks) }
    }

    @Test func `a row has the peak of the loudest channel, and its entry no key for levels that are not known`() throws
    {
        try addAll()
        let found = try [1, 2, 3, 4].flatMap { try takes.catalog.find(.number($0)) }
        #expect(found.map(\.peakDBFS) == [-12.3456, nil, nil, 0.2])
        #expect(found.map(\.rmsDBFS) == [-24.6912, nil, nil, 0.4])
        #expect(found.map(\.spanSeconds) == [10, 10, 10, 10])
        let page = try takes.catalog.page(TakeQuery())
        #expect(page.entries.map { $0.contains("\"peak_dbfs\":") } == [true, false, false, true])
        #expect(try columns(takes.catalog) == Self.expected)
    }

    @Test func `a span includes the time between parts of any rate`() throws {
        var sidecar = Self.sidecar(1, [-20])
        var second = sidecar.parts[0]
        second.file = TakesOnDisk.name(sidecar).audioFile(part: 2)
        (second.firstFrame, second.rateHz, second.frames) = (TakeFrame(20 * 48_000), 24_000, 120_000)
        sidecar.parts.append(second)
        try takes.add(sidecar)
        #expect(try takes.catalog.find(.number(1)).map(\.spanSeconds) == [25])
    }

    @Test func `rows of a version without levels get them when the catalog is opened, and titles when they are read`()
        throws
    {
        try addAll()
        let stem = TakesOnDisk.sidecar(1, started: TakesOnDisk.morning + .seconds(60)).take
        _ = try takes.catalog.note(stem) { $0.title = "weir" }
        let before = try rows(takes.catalog)
        // That version writes neither the keys nor the columns.
        try takes.catalog.database.write { database in
            try database.execute(
                sql: """
                    UPDATE take SET entry = json_remove(entry, '$.span_seconds', '$.peak_dbfs', '$.rms_dbfs', '$.title'),
                        loudness = -10000000, quietness = 10000000
                    """)
        }
        try takes.catalog.close()
        let catalog = try Catalog.open(in: takes.disk.library).0
        #expect(try columns(catalog) == Self.expected)
        let found = try [1, 2, 3, 4].flatMap { try catalog.find(.number($0)) }
        #expect(found.map(\.peakDBFS) == [-12.3456, nil, nil, 0.2])
        #expect(found.map(\.spanSeconds) == [10, 10, 10, 10])
        // The scan sees that they must be read again.
        let number = try #require(try catalog.setPresent([takes.storage])[takes.storage])
        #expect(try catalog.known(of: number, day: "2026-11-21").values.allSatisfy { $0.notesModifiedNs == -1 })
        for (index, peaks) in Self.peaks.enumerated() {
            let name = TakesOnDisk.name(Self.sidecar(index + 1, peaks))
            let take = try StoredTake(name, in: TakesFolder(path: takes.disk.takes))
            #expect(try catalog.index([take], on: number, at: takes.disk.takes).isEmpty)
        }
        #expect(try rows(catalog) == before)
        #expect(try catalog.find(.stem(stem)).map(\.title) == ["weir"])
    }

    @Test(arguments: ["\u{feff}{}", "{", "", "[1]"])
    func `a sidecar that is no JSON to the database gives no levels, and keeps no catalog from being opened`(
        json: String
    ) throws {
        try add(1, [-20])
        try takes.catalog.database.write { database in
            try database.execute(sql: "UPDATE take SET entry = json_remove(entry, '$.span_seconds')")
            try database.execute(sql: "UPDATE sidecar SET json = ?", arguments: [json])
        }
        try takes.catalog.close()
        let catalog = try Catalog.open(in: takes.disk.library).0
        #expect(try columns(catalog) == [[-10_000_000, 10_000_000]])
        #expect(try catalog.find(.number(1)).map(\.spanSeconds) == [10])
    }
}
