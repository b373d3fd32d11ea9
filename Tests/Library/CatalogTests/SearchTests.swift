import DiskCalls
import FinishedTakes
import SeededRandom
import TakeFiles
import Takes
import TestBench
import Testing
import Transport

@testable import Catalog

/// The expected result of a query, computed without a database.
private struct Model {
    var takes: [CatalogedTake] = []
    var markers: [String: [String]] = [:]

    func stems(_ query: TakeQuery) -> [String] {
        func words(_ text: String) -> [String] {
            text.lowercased().replacing("ö", with: "o").split { !$0.isLetter && !$0.isNumber }.map(String.init)
        }
        func holds(_ text: String, _ wanted: String) -> Bool {
            let found = words(text)
            return !words(wanted).isEmpty && words(wanted).allSatisfy { want in found.contains { $0.hasPrefix(want) } }
        }
        func follow(_ text: String, _ wanted: String) -> Bool {
            let (found, wanted) = (words(text), words(wanted))
            guard let last = wanted.last, found.count >= wanted.count else { return false }
            return (0...found.count - wanted.count).contains { start in
                let piece = found[start..<start + wanted.count]
                return piece.dropLast().elementsEqual(wanted.dropLast()) && piece.last?.hasPrefix(last) == true
            }
        }
        func typed(_ take: CatalogedTake, _ text: String, _ wanted: String) -> Bool {
            Int(wanted.replacing("#", with: "")).map { $0 == take.number } ?? holds(text, wanted)
        }
        func isInHours(_ take: CatalogedTake) -> Bool {
            let (from, to) = (query.fromHour ?? 0, query.toHour ?? 24)
            let time = WallTime(microseconds: started(take))
            let local = time + .seconds(LocalZone.kit.secondsAhead(at: time))
            let hour = Double(local.microsecondsOfDay) / 3.6e9
            if from == to { return true }
            return from < to ? from <= hour && hour < to : from <= hour || hour < to
        }
        func started(_ take: CatalogedTake) -> Int64 { WallTime(iso8601: take.started)!.microseconds }
        func value(_ take: CatalogedTake) -> Int64 {
            switch query.order {
            case .started: started(take)
            case .duration: Int64(take.durationSeconds * 1e6)
            case .number: Int64(take.number)
            case .size: take.bytes
            case .loudness:
                take.peakDBFS.map { Int64(($0 * 1000).rounded()) } ?? (query.isDescending ? .min : .max)
            }
        }
        func stands(_ take: CatalogedTake, _ wanted: TakeQuery.Upload) -> Bool {
            switch wanted {
            case .waiting: take.upload == .waiting
            case .held: take.upload == .held
            case .done: take.upload == .done
            case .notDone: take.upload != .done
            case .nowhere: take.upload == nil
            }
        }
        let found = takes.filter { take in
            let notes = markers[take.take] ?? []
            let text = ([take.memo ?? ""] + take.tags + notes).joined(separator: " ")
            let meetsFirst =
                (query.text.map { holds(text, $0) } ?? true) && (query.tag.map(take.tags.contains) ?? true)
                && (query.isStarred.map { $0 == take.starred } ?? true)
                && (query.marker.map { $0.isEmpty ? !notes.isEmpty : holds(notes.joined(separator: " "), $0) } ?? true)
                && (query.since.map { started(take) >= $0.microseconds } ?? true)
                && (query.until.map { started(take) < $0.microseconds } ?? true)
                && (query.leastSeconds.map { take.durationSeconds >= $0 } ?? true)
                && (query.mostSeconds.map { take.durationSeconds <= $0 } ?? true)
                && (query.place.map { $0 == take.place } ?? true) && (query.kit.map { $0 == take.kit } ?? true)
                && (query.upload.map { stands(take, $0) } ?? true)
            guard meetsFirst else { return false }
            if let wanted = query.typed, !typed(take, text, wanted) { return false }
            if let label = query.label, !follow(notes.joined(separator: " "), label) { return false }
            if let least = query.leastPeakDBFS, take.peakDBFS ?? -.infinity < least { return false }
            return isInHours(take)
        }
        // Takes with equal values stay in the order in which they were cataloged.
        let sorted = found.enumerated().sorted { (value($0.element), $0.offset) < (value($1.element), $1.offset) }
        let stems = sorted.map(\.element.take)
        return query.isDescending ? stems.reversed() : stems
    }
}

@Suite(.waitsOnNamedThreads) struct SearchTests {
    private let takes: CatalogedTakes
    private var model = Model()
    private static let words = ["wren", "Robin", "owl", "dawn chorus", "wind", "öre"]

    init() throws {
        takes = try CatalogedTakes()
        var random = SeededRandom(seed: 11)
        for number in 1...120 {
            let started = TakesOnDisk.morning + .seconds(Int.random(in: 0..<40, using: &random) * 3600)
            let markers = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                Self.words.randomElement(using: &random)!
            }
            var sidecar = TakesOnDisk.sidecar(
                number / 2, kit: number.isMultiple(of: 2) ? "heron07" : "wren01", started: started,
                seconds: Double(Int.random(in: 1..<20, using: &random)), markers: markers)
            let peak = Double(Int.random(in: -60...0, using: &random))
            let level = Sidecar.Levels(peakDBFS: peak, rmsDBFS: peak, clippedFrames: 0, filterClippedFrames: 0)
            sidecar.levels = number.isMultiple(of: 7) ? [] : [level]
            let stem = try takes.add(sidecar, audioBytes: Int.random(in: 44..<60, using: &random))
            if Bool.random(using: &random) {
                let tags = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                    Self.words.randomElement(using: &random)!
                }
                let memo =
                    Bool.random(using: &random) ? "\(Self.words.randomElement(using: &random)!) by the river" : nil
                let starred = Bool.random(using: &random)
                _ = try takes.catalog.note(stem) { notes in
                    notes.memo = memo
                    notes.starred = starred
                    notes.tag(adding: tags, removing: [])
                }
            }
            model.takes += try takes.catalog.find(.stem(stem))
            model.markers[stem] = markers
        }
    }

    private func everyPage(_ query: TakeQuery) throws -> [String] {
        var query = query
        query.isCounted = true
        var stems: [String] = []
        var totals: [TakePage.Totals?] = []
        while true {
            let page = try takes.catalog.page(query)
            #expect(page.entries.count <= query.limit)
            stems += try page.takes().map(\.take)
            totals.append(page.totals)
            guard let next = page.next else {
                let found = Set(stems)
                let seconds = model.takes.filter { found.contains($0.take) }.reduce(0) { $0 + $1.durationSeconds }
                #expect(totals.allSatisfy { $0 == TakePage.Totals(takes: stems.count, seconds: seconds) })
                return stems
            }
            #expect(page.entries.count == query.limit)
            query.after = next
        }
    }

    @Test func `any order and any conditions find what a model finds, page by page`() throws {
        var random = SeededRandom(seed: 12)
        var found = 0
        for _ in 0..<200 {
            var query = TakeQuery()
            query.order = TakeQuery.Order.allCases.randomElement(using: &random)!
            query.isDescending = Bool.random(using: &random)
            query.limit = Int.random(in: 1...40, using: &random)
            func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? {
                Int.random(in: 0..<4, using: &random) == 0 ? value() : nil
            }
            query.text = maybe(["wr", "robin river", "o", "chor", "ORE", "", "?"].randomElement(using: &random)!)
            query.tag = maybe(Self.words.randomElement(using: &random)!)
            query.isStarred = maybe(Bool.random(using: &random))
            query.marker = maybe(["", "wren", "dawn"].randomElement(using: &random)!)
            query.since = maybe(TakesOnDisk.morning + .seconds(36_000))
            query.until = maybe(TakesOnDisk.morning + .seconds(108_000))
            query.leastSeconds = maybe(Double(Int.random(in: 1..<20, using: &random)))
            query.mostSeconds = maybe(Double(Int.random(in: 1..<20, using: &random)))
            query.place = maybe(.here)
            query.kit = maybe(["heron07", "wren01", "owl02"].randomElement(using: &random)!)
            query.upload = maybe(TakeQuery.Upload.allCases.randomElement(using: &random)!)
            query.typed = maybe(["wr", "river", "17", "#9", "0042"].randomElement(using: &random)!)
            query.label = maybe(["wr", "DAWN chor", "dawn", "chorus", "wind owl", ""].randomElement(using: &random)!)
            query.fromHour = maybe([0, 6.25, 22].randomElement(using: &random)!)
            query.toHour = maybe([5, 8.5, 24].randomElement(using: &random)!)
            query.leastPeakDBFS = maybe(Double(Int.random(in: -60...0, using: &random)))
            let expected = model.stems(query)
            found += expected.count
            #expect(try everyPage(query) == expected)
        }
        #expect(found > 700)
    }

    @Test func `letters are found without their accents`() throws {
        var accented = TakeQuery()
        accented.text = "öre"
        accented.limit = 200
        var plain = accented
        plain.text = "ore"
        let found = try takes.stems(accented)
        #expect(!found.isEmpty)
        #expect(try takes.stems(plain) == found)
    }

    @Test(arguments: [
        "\"", "wren*", "NEAR(a b)", "memo:wren", "wren OR owl", "-wren", "a AND", "(", "'; DROP TABLE take",
    ])
    func `what a person types is words, never a language`(_ text: String) throws {
        var query = TakeQuery()
        query.text = text
        _ = try takes.stems(query)
        query.marker = text
        (query.typed, query.label) = (text, text)
        _ = try takes.stems(query)
        #expect(try takes.catalog.counts().takes == 120)
    }

    @Test(arguments: ["", "1", "1:", ":1", "a:b", "1:2:3", "99999999999999999999:1"])
    func `an end of a page that is none is refused`(_ text: String) {
        var query = TakeQuery()
        query.after = text
        #expect(throws: TakePage.UnreadableMark.self) { try takes.catalog.page(query) }
    }

    @Test func `a take is found by its number, several by theirs, and the last`() throws {
        #expect(try takes.catalog.find(.number(1)).map(\.number) == [1, 1])
        #expect(try takes.catalog.find(.number(60)).count == 1)
        #expect(try takes.catalog.find(.number(61)) == [])
        #expect(try takes.catalog.find(.last).map(\.number) == [60])
    }

    @Test func `lists are chosen by an index, not by reading the takes`() throws {
        for order in TakeQuery.Order.allCases {
            var query = TakeQuery()
            query.order = order
            query.isStarred = true
            query.leastSeconds = 5
            query.since = TakesOnDisk.morning
            query.place = .here
            query.marker = ""
            query.leastPeakDBFS = -40
            (query.fromHour, query.toHour) = (22, 4)
            let plan = try takes.catalog.plan(of: query)
            // The page, and the totals.
            #expect(plan.count { $0.contains("USING COVERING INDEX takeBy") } == 2, "\(order): \(plan)")
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(order): \(plan)")
        }
    }

    @Test(
        arguments: [
            ("2026-11-21", "2026-11-21"), ("21 Nov", "2026-11-21"), ("22.11.", "2026-11-22"), ("today", "2026-11-22"),
            ("gestern", "2026-11-21"), ("21 Dec", nil),
        ] as [(String, String?)])
    func `takes of a day are found as a person types it, by the clocks of a zone`(text: String, day: String?) throws {
        let rules = try #require(ZoneRules(ZoneFile.bytes(times: [], offsets: [-36_000], footer: "<-10>10")))
        let zone = LocalZone(rules)
        var query = TakeQuery()
        query.typed = text
        query.limit = 200
        let noon = try WallTime(reading: "2026-11-22T22:00Z")
        let found = try takes.catalog.page(query, in: zone, now: noon).takes().map(\.take)
        let expected = model.takes.filter { take in
            WallTime(iso8601: take.started).map { zone.day(of: $0).description } == day
        }
        #expect(Set(found) == Set(expected.map(\.take)))
        #expect(found.isEmpty == (day == nil))
    }
}
