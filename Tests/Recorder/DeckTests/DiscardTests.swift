import Files
import Foundation
import Glibc
import Panel
import Takes
import TestBench
import Testing
import Transport
import Workers

@testable import Deck

@Suite struct DiscardTests {
    @Test func `a take is discarded with all its files, and is not found from when that was asked for`() throws {
        let rig = try Rig { $0.keepsUnfiltered = true }
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        var results: [String] = []
        let stem = try #require(rig.deck.status.selected)
        rig.deck.perform(.discard(stem: stem, DiscardTerms(isFinal: true))) { result in
            switch result {
            case .success: results.append("done")
            case .failure(let refusal): results.append(refusal.message)
            }
        }
        #expect(results == [])
        rig.deck.perform(.play(.last)) { result in
            if case .failure(let refusal) = result { results.append(refusal.code.rawValue) }
        }
        rig.work()
        #expect(results == ["not-found", "done"])
        #expect(rig.deck.status.selected == nil)
        let left = try FileManager.default.subpathsOfDirectory(atPath: rig.directory)
        #expect(left.filter { $0.contains("heron07") || $0.contains(".bin") } == [])
    }

    @Test func `a take is discarded only if it is still what that was decided for`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        let sidecar = try #require(try rig.sidecars().first)
        let day = WallTime(iso8601: sidecar.started)?.date ?? ""
        let right = sidecar.version(day: day)
        var (otherBoot, otherTime, later, otherDay) = (right, right, right, right)
        otherBoot.start.bootID += "x"
        otherTime.start.startedMonotonicNs += 1
        later.revision += 1
        otherDay.day = "2001-01-01"
        var refusals: [Refusal] = []
        for version in [otherBoot, otherTime, later, otherDay] {
            rig.deck.perform(.discard(stem: stem, DiscardTerms(version))) {
                if case .failure(let refusal) = $0 { refusals.append(refusal) }
            }
            rig.work()
        }
        let other = Refusal(.busy, "discard: \(stem): it is not what it was when this was decided: look at it again")
        #expect(refusals.dropLast() == [other, other, other])
        #expect(refusals.last?.code == .notFound)
        #expect(try rig.sidecars() == [sidecar] && rig.deck.status.selected == stem)
        rig.deck.perform(.discard(stem: stem, DiscardTerms(right))) { _ in }
        rig.work()
        #expect(try rig.sidecars().isEmpty && rig.deck.status.selected == nil)
    }

    @Test func `who asks whether a take is being deleted waits for that, also if its folder was away meanwhile`() throws
    {
        let rig = try Rig()
        let stem = try recordTake(rig)
        let day = WallTime(iso8601: try #require(try rig.sidecars().first?.started))?.date
        rig.stuck = [.archivist]
        var answers: [String] = []
        rig.deck.perform(.discard(stem: stem, DiscardTerms())) { _ in answers.append("discarded") }
        rig.run(.milliseconds(200))
        try FileManager.default.moveItem(atPath: rig.directory, toPath: rig.directory + ".away")
        rig.run(.seconds(5))
        // Another folder was made in its place.
        try FileManager.default.removeItem(atPath: rig.directory)
        try FileManager.default.moveItem(atPath: rig.directory + ".away", toPath: rig.directory)
        rig.deck.perform(.settle(stem: stem, day: day)) { _ in answers.append("settled") }
        rig.deck.perform(.settle(stem: stem, day: "2001-01-01")) { _ in answers.append("another") }
        #expect(answers == ["another"])
        rig.stuck = []
        rig.run(.seconds(5))
        #expect(answers.sorted() == ["another", "discarded", "settled"])
    }

    @Test func `a take in another folder than the recorder's is not the one that is discarded`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        let folder = TestFolder()
        let other = folder.path
        var refusals: [Refusal] = []
        for path in [other, "\(other)/none"] {
            rig.deck.perform(.discard(stem: stem, DiscardTerms(in: path))) {
                if case .failure(let refusal) = $0 { refusals.append(refusal) }
            }
            rig.work()
        }
        let (takes, storage) = (rig.directory, "that its storage is mounted")
        #expect(
            refusals.map(\.message) == [
                "discard: \(stem): the request names \(other), and the recorder's takes are in \(takes)",
                "discard: \(stem): examine \(other)/none: No such file or directory: see that it was not deleted, and \(storage)",
            ])
        #expect(try rig.sidecars().count == 1)
        // A link to the folder is followed.
        try FileManager.default.createSymbolicLink(atPath: "\(other)/link", withDestinationPath: takes)
        rig.deck.perform(.discard(stem: stem, DiscardTerms(in: "\(other)/link"))) { _ in }
        rig.work()
        #expect(try rig.sidecars().isEmpty)
    }

    @Test func `an order to discard a take that comes too late deletes nothing`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        let end = rig.clock.now() + .seconds(60)
        rig.stuck = [.archivist]
        var refusal: Refusal?
        rig.deck.perform(.discard(stem: stem, DiscardTerms(notAfter: end))) {
            if case .failure(let reason) = $0 { refusal = reason }
        }
        rig.run(.seconds(61))
        rig.stuck = []
        rig.work()
        let sentence = "discard: \(stem): it comes too late, and nothing is deleted: ask again"
        #expect(refusal == Refusal(.busy, sentence))
        #expect(try rig.sidecars().count == 1 && rig.deck.status.selected == stem)
        // Before the deadline it is carried out.
        rig.deck.perform(.discard(stem: stem, DiscardTerms(notAfter: rig.clock.now() + .seconds(60)))) { _ in }
        rig.work()
        #expect(try rig.sidecars().isEmpty)
    }

    @Test func `who asks for a take to be discarded that is being discarded is answered once it is gone`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        rig.stuck = [.archivist]
        var answers: [String] = []
        for name in ["first", "second"] {
            rig.deck.perform(.discard(stem: stem)) { result in
                if case .success = result { answers.append(name) }
            }
        }
        rig.work()
        #expect(answers.isEmpty)
        rig.stuck = []
        rig.work()
        #expect(answers == ["first", "second"])
        #expect(try rig.sidecars().isEmpty)
    }

    @Test func `who waits for orders is answered once the take's deletion has ended, and at once without one`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        var answers: [String] = []
        func settle(_ stem: String, _ name: String) {
            rig.deck.perform(.settle(stem: stem, day: nil)) { result in
                if case .success = result { answers.append(name) }
            }
        }
        settle(stem, "none")
        settle("heron07-0099-061811Z", "unknown")
        #expect(answers == ["none", "unknown"])
        rig.stuck = [.archivist]
        rig.deck.perform(.discard(stem: stem)) { _ in answers.append("gone") }
        settle(stem, "settled")
        rig.work()
        #expect(answers.count == 2)
        rig.stuck = []
        rig.work()
        #expect(answers == ["none", "unknown", "gone", "settled"])
    }

    @Test func `another order to discard a take that is being discarded is refused`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        rig.stuck = [.archivist]
        rig.deck.perform(.discard(stem: stem)) { _ in }
        var refusals: [Refusal] = []
        let day = WallTime(iso8601: try #require(try rig.sidecars().first).started)?.date ?? ""
        for terms in [DiscardTerms(in: "/elsewhere"), DiscardTerms(day: day)] {
            rig.deck.perform(.discard(stem: stem, terms)) {
                if case .failure(let refusal) = $0 { refusals.append(refusal) }
            }
        }
        let other = Refusal(.busy, "discard: \(stem): it is being deleted by another order")
        #expect(refusals == [other, other])
        rig.stuck = []
        rig.work()
        #expect(try rig.sidecars().isEmpty)
    }

    @Test func `a take whose storage went away before it was discarded is not said to be deleted`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        rig.stuck = [.archivist]
        var refusal: Refusal?
        // The folder goes away before the archivist handles the order, and is back by then.
        try FileManager.default.moveItem(atPath: rig.directory, toPath: rig.directory + "-away")
        rig.run(.seconds(5))
        rig.deck.perform(.discard(stem: stem)) { if case .failure(let reason) = $0 { refusal = reason } }
        rig.stuck = []
        rig.work()
        #expect(refusal != nil)
        let left = try FileManager.default.subpathsOfDirectory(atPath: rig.directory + "-away")
        #expect(left.contains { $0.hasSuffix("\(stem).wav") } && left.contains { $0.hasSuffix("\(stem).json") })
    }

    @Test func `a take that cannot be removed is reported, and stays`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage))
        let stem = try recordTake(rig)
        storage.code = EIO
        var refusal: Refusal?
        rig.deck.perform(.discard(stem: stem)) { if case .failure(let reason) = $0 { refusal = reason } }
        rig.work()
        #expect(refusal?.code == .io)
        #expect(refusal?.message.contains("Input/output error") ?? false)
        #expect(rig.deck.status.selected != nil)
    }

    @Test func `a take of which a file cannot be removed is none any more, and who asked gets the reason`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        let files = FileSystem()
        let day = try #require(try rig.sidecars().first.flatMap { WallTime(iso8601: $0.started) }).date
        let folder = "\(rig.directory)/\(day)"
        // A folder in place of the file cannot be removed as a file.
        try files.remove("\(folder)/\(stem).dat")
        _ = try files.makeFolder("\(folder)/\(stem).dat")
        var refusal: Refusal?
        rig.deck.perform(.discard(stem: stem, DiscardTerms(isFinal: true))) {
            if case .failure(let reason) = $0 { refusal = reason }
        }
        rig.work()
        #expect(refusal?.code == .io)
        let sentence = "it is deleted, but for files that are removed when the recorder starts again: "
        #expect(refusal?.message.contains(sentence) == true, "\(refusal?.message ?? "")")
        #expect(try rig.deck.status.selected == nil && rig.sidecars().isEmpty)
    }
}

/// Records a take of one second, and returns its stem.
func recordTake(_ rig: Rig) throws -> String {
    rig.run(.milliseconds(500))
    rig.press(.record)
    rig.run(.seconds(1))
    rig.press(.stop)
    rig.settle()
    return try #require(rig.deck.status.selected)
}
