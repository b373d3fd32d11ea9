import DiskCalls
import FinishedTakes
import TakeFiles
import Takes
import Testing

@testable import Catalog

/// The takes of days.
@Suite(.waitsOnNamedThreads) struct DaysTests {
    private let takes: CatalogedTakes
    private static let midnight = WallTime(iso8601: "2026-11-22T00:00:00.000000Z")!
    private static let day = midnight..<midnight + .seconds(86_400)

    init() throws { takes = try CatalogedTakes() }

    /// Adds a take that begins some seconds after the midnight, or before it.
    @discardableResult
    private func add(
        _ number: Int, at seconds: Int, lasting length: Double, markers: [Int64] = [], behind jump: Double? = nil
    ) throws -> String {
        var sidecar = TakesOnDisk.sidecar(
            number, started: Self.midnight + .seconds(seconds), seconds: length, rateHz: 1000)
        sidecar.markers = markers.map { Sidecar.Marker(atFrame: TakeFrame($0), note: "marker \($0)") }
        if let jump {
            var second = sidecar.parts[0]
            second.file = TakesOnDisk.name(sidecar).audioFile(part: 2)
            second.firstFrame = TakeFrame(Int64((length + jump) * 1000))
            sidecar.parts.append(second)
            sidecar.durationSeconds = 2 * length
        }
        return try takes.add(sidecar)
    }

    private func found(_ stretch: Range<WallTime> = Self.day) throws -> [Int] {
        try takes.catalog.takes(in: stretch).map(\.number)
    }

    @Test func `a take is of each day on which it was recorded, in the order of the starts`() throws {
        try add(1, at: -100, lasting: 100)
        try add(2, at: -100, lasting: 100.5)
        try add(3, at: 0, lasting: 10)
        try add(4, at: 86_399, lasting: 3600)
        try add(5, at: 86_400, lasting: 1)
        try add(6, at: -200_000, lasting: 300_000)
        try add(7, at: -300_000, lasting: 10)
        #expect(try found() == [6, 2, 3, 4])
        #expect(try found(Self.midnight + .seconds(86_400)..<Self.midnight + .seconds(2 * 86_400)) == [6, 4, 5])
        #expect(try found(Self.midnight..<Self.midnight + .seconds(1)) == [6, 2, 3])
    }

    @Test func `a take whose second part is of the day is found, though its length is short`() throws {
        try add(1, at: -40_000, lasting: 10, behind: 50_000)
        try add(2, at: -40_000, lasting: 10, behind: 30_000)
        #expect(try found() == [1])
        let take = try #require(try takes.catalog.takes(in: Self.day).first)
        #expect(take.spanSeconds == 50_020)
    }

    @Test func `takes are counted on the day on which they began`() throws {
        try add(1, at: -1, lasting: 100)
        try add(2, at: 0, lasting: 10)
        try add(3, at: 86_399, lasting: 20.5)
        let days = (-1...1).map { Self.midnight + .seconds($0 * 86_400)..<Self.midnight + .seconds(($0 + 1) * 86_400) }
        #expect(
            try takes.catalog.counts(in: days) == [
                Catalog.TakeCount(takes: 1, seconds: 100), Catalog.TakeCount(takes: 2, seconds: 30.5),
                Catalog.TakeCount(takes: 0, seconds: 0),
            ])
        #expect(try takes.catalog.counts(in: []) == [])
    }

    @Test func `a take of a day has its title, its folder while that is there, and its markers as they are now`() throws
    {
        let stem = try add(1, at: 100, lasting: 60, markers: [0, 5000])
        _ = try takes.catalog.note(stem) { notes, recorded in
            notes.title = "weir"
            notes.removeMarker(at: .first, of: recorded)
            notes.setMarker(.init(atFrame: TakeFrame(7000), note: "owl"))
        }
        let take = try #require(try takes.catalog.takes(in: Self.day).first)
        #expect(take.identity.stem == stem && take.title == "weir" && take.rateHz == 1000 && take.spanSeconds == 60)
        #expect(take.started == Self.midnight + .seconds(100) && take.ended == Self.midnight + .seconds(160))
        #expect(take.folder == "\(takes.disk.takes)/2026-11-22")
        #expect(try takes.catalog.markers(of: take).map(\.note) == ["marker 5000", "owl"])
        _ = try takes.catalog.setPresent([])
        #expect(try takes.catalog.takes(in: Self.day).map(\.folder) == [nil])
    }

    @Test func `the sidecar of a take of a day is that of the catalog, without the clock map`() throws {
        var sidecar = TakesOnDisk.sidecar(1, started: Self.midnight)
        sidecar.clockMap = [
            Sidecar.ClockPoint(atFrame: .first, rawNs: 5, utc: nil, errorUs: 1)
        ]
        try takes.add(sidecar)
        let take = try #require(try takes.catalog.takes(in: Self.day).first)
        let found = try takes.catalog.sidecar(of: take)
        sidecar.clockMap = []
        #expect(found == sidecar)
        try takes.catalog.remove([sidecar.take], of: "2026-11-22", on: takes.number)
        #expect(try takes.catalog.sidecar(of: take) == nil)
        #expect(try takes.catalog.takes(in: Self.day).isEmpty)
    }
}
