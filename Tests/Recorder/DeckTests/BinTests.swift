import Files
import Foundation
import TakePlaces
import Takes
import TestBench
import Testing
import Transport
import Workers

@testable import Deck

@Suite struct BinTests {
    /// The answer to a command: "done", or the reason of a refusal.
    private func perform(_ command: Command, on rig: Rig) -> String {
        var answer = "none"
        rig.deck.perform(command) { result in
            switch result {
            case .success: answer = "done"
            case .failure(let refusal): answer = "\(refusal.code.rawValue): \(refusal.message)"
            }
        }
        rig.work()
        return answer
    }

    private func files(of stem: String, in rig: Rig) throws -> Set<String> {
        Set(try FileManager.default.subpathsOfDirectory(atPath: rig.directory).filter { $0.isFile(of: stem) })
    }

    @Test func `a take that is discarded is in the bin, and restored it is back among the takes`() throws {
        let rig = try Rig { $0.keepsUnfiltered = true }
        let first = try recordTake(rig)
        let stem = try recordTake(rig)
        let before = try files(of: stem, in: rig)
        var changes: [String] = []
        rig.onEvent = {
            if case .takeChanged(let change) = $0 { changes.append("\(change.what.rawValue) \(change.take)") }
        }
        #expect(perform(.discard(stem: stem), on: rig) == "done")
        #expect(rig.log.messages.last == "discard: \(stem): in the bin")
        #expect(rig.deck.status.selected == first)
        #expect(perform(.play(.stem(stem)), on: rig).hasPrefix("not-found"))
        #expect(rig.deck.status.binTakes == 1 && rig.deck.binnedTakes.map(\.take) == [stem])
        #expect((rig.deck.status.binBytes ?? 0) > 16000)
        #expect(try files(of: stem, in: rig).allSatisfy { $0.hasPrefix(".bin/") })
        #expect(perform(.discard(stem: stem), on: rig).hasPrefix("not-found"))
        #expect(perform(.restore(stem: stem, day: nil), on: rig) == "done")
        #expect(rig.log.messages.last == "restore: \(stem): it is out of the bin")
        #expect(try files(of: stem, in: rig) == before)
        #expect(rig.deck.status.binTakes == 0 && rig.deck.status.binBytes == 0)
        #expect(changes == ["discarded \(stem)", "committed \(stem)"])
        #expect(perform(.select(.last), on: rig) == "done" && rig.deck.status.selected == stem)
        #expect(perform(.play(.stem(stem)), on: rig) == "done")
        #expect(
            perform(.restore(stem: stem, day: nil), on: rig).hasPrefix(
                "not-found: restore: \(stem): no such take in the bin"))
    }

    @Test func `the bin is known after a restart, and numbers go on behind it`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        #expect(perform(.discard(stem: stem), on: rig) == "done")
        rig.deck.closeDirectory()
        let again = try Rig(in: rig.cut())
        #expect(again.deck.binnedTakes.map(\.take) == [stem])
        #expect(try recordTake(again).hasPrefix("heron07-0002"))
        #expect(perform(.restore(stem: stem, day: "2001-01-01"), on: again).hasPrefix("not-found"))
        #expect(perform(.restore(stem: stem, day: nil), on: again) == "done")
        #expect(try again.sidecars().count == 2)
    }

    @Test func `the bin is emptied when that is asked for, and one take of it`() throws {
        let rig = try Rig()
        let stems = try (0..<3).map { _ in try recordTake(rig) }
        for stem in stems { #expect(perform(.discard(stem: stem), on: rig) == "done") }
        #expect(perform(.empty(stem: stems[1]), on: rig) == "done")
        #expect(rig.deck.binnedTakes.map(\.take) == [stems[0], stems[2]])
        #expect(perform(.empty(stem: stems[1]), on: rig).hasPrefix("not-found"))
        #expect(perform(.empty(stem: nil), on: rig) == "done")
        #expect(rig.deck.binnedTakes.isEmpty)
        #expect(try files(of: "heron07", in: rig).isEmpty)
    }

    @Test func `a take of which a file was put back by hand stays in the bin, and the others are emptied`() throws {
        let rig = try Rig()
        let stems = try (0..<3).map { _ in try recordTake(rig) }
        for stem in stems { #expect(perform(.discard(stem: stem), on: rig) == "done") }
        let file = try #require(files(of: stems[1], in: rig).first { $0.hasSuffix(".wav") })
        let place = "\(rig.directory)/\(file.dropFirst(5))"
        try FileManager.default.moveItem(atPath: "\(rig.directory)/\(file)", toPath: place)
        #expect(
            perform(.empty(stem: nil), on: rig)
                == "busy: empty: \(stems[1]): \(place) was put back by hand: the take stays in the bin until "
                + "'fieldfare bin restore \(stems[1])'")
        #expect(rig.deck.binnedTakes.map(\.take) == [stems[1]])
        #expect(perform(.restore(stem: stems[1], day: nil), on: rig) == "done")
        #expect(try rig.sidecars().map(\.take) == [stems[1]])
    }

    @Test func `a bin is not emptied of a take whose sidecar is gone from it, but by its name`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        #expect(perform(.discard(stem: stem), on: rig) == "done")
        let day = try #require(rig.deck.binnedTakes.first?.day)
        let sidecar = "\(rig.directory)/.bin/\(day)/\(stem).json"
        try FileManager.default.removeItem(atPath: sidecar)
        let before = try files(of: stem, in: rig)
        #expect(perform(.empty(stem: nil), on: rig).hasPrefix("io: empty: \(stem): open \(sidecar): No such file"))
        #expect(perform(.empty(stem: nil), on: rig) == "done")
        #expect(try files(of: stem, in: rig) == before && rig.deck.binnedTakes.map(\.take) == [stem])
        #expect(perform(.empty(stem: stem), on: rig) == "done")
        #expect(try files(of: stem, in: rig).isEmpty)
    }

    @Test func `what lies in the bin of a take that was copied back whole is emptied by its name`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        #expect(perform(.discard(stem: stem), on: rig) == "done")
        let day = try #require(rig.deck.binnedTakes.first?.day)
        let (bin, home) = ("\(rig.directory)/.bin/\(day)", "\(rig.directory)/\(day)")
        for file in try FileManager.default.contentsOfDirectory(atPath: bin) where !file.hasSuffix(".binned") {
            try FileManager.default.copyItem(atPath: "\(bin)/\(file)", toPath: "\(home)/\(file)")
        }
        let before = try files(of: stem, in: rig).filter { !$0.hasPrefix(".bin/") }
        let wav = URL(filePath: "\(home)/\(stem).wav")
        let sound = try Data(contentsOf: wav)
        try (sound + [1]).write(to: wav)
        let all = try files(of: stem, in: rig)
        #expect(
            perform(.empty(stem: stem), on: rig)
                == "busy: empty: \(stem): \(home)/\(stem).wav and \(bin)/\(stem).wav are not known to be the same: move one of "
                + "them to another place")
        try sound.write(to: wav)
        #expect(
            perform(.restore(stem: stem, day: nil), on: rig)
                == "busy: restore: \(stem): a take of that name is there: it stays in the bin: if it was copied back whole, use "
                + "'fieldfare bin empty \(stem)'")
        #expect(
            perform(.empty(stem: nil), on: rig)
                == "busy: empty: \(stem): it was copied back by hand: the take stays in the bin until 'fieldfare bin empty "
                + "\(stem)', which deletes nothing in \(home)")
        #expect(try files(of: stem, in: rig) == all)
        #expect(perform(.empty(stem: stem), on: rig) == "done")
        #expect(try files(of: stem, in: rig) == before && rig.deck.binnedTakes.isEmpty)
    }

    @Test func `what is restored before the bin is emptied is not missed there`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        #expect(perform(.discard(stem: stem), on: rig) == "done")
        var answers: [Bool] = []
        for command in [Command.restore(stem: stem, day: nil), .empty(stem: nil)] {
            rig.deck.perform(command) { answers.append((try? $0.get()) != nil) }
        }
        rig.work()
        #expect(answers == [true, true])
        #expect(try rig.sidecars().map(\.take) == [stem])
    }

    @Test func `the disk fills while a take is recorded: the bin is emptied, the oldest first, and the take goes on`()
        throws
    {
        let storage = TroubledStorage()
        let reserve: Int64 = 1 << 20
        let rig = try Rig(files: FileSystem(calls: storage)) { $0.reserveBytes = reserve }
        storage.free = 1 << 30
        let stems = try (0..<3).map { _ in try recordTake(rig) }
        for stem in stems { #expect(perform(.discard(stem: stem), on: rig) == "done") }
        let sizes = rig.deck.binnedTakes.map(\.bytes)
        rig.log.onReport = { line in
            for (stem, size) in zip(stems, sizes) where line == "bin: \(stem): deleted for good: its space is needed" {
                storage.free = storage.free.map { $0 + size }
            }
        }
        rig.press(.record)
        rig.run(.seconds(1))
        // A minute at 16 kB/s, and one more second above the reserve, must be free. A little less is free.
        let wanted = reserve + 61 * 16000
        storage.free = wanted - sizes[0] - 1
        rig.run(.seconds(5))
        #expect(rig.deck.state == .recording)
        #expect(rig.deck.binnedTakes.map(\.take) == [stems[2]])
        storage.free = reserve - 1
        rig.run(.seconds(5))
        #expect(rig.deck.state == .recording && rig.deck.binnedTakes.isEmpty)
        // The bin is empty by now.
        storage.free = reserve - 1
        rig.run(.seconds(5))
        #expect(rig.deck.state != .recording)
        #expect(try rig.sidecars().last?.endedBy == .diskFull)
    }

    @Test func `what is in the bin counts as free: a disk with no other room takes a take`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage)) { $0.reserveBytes = 20_000 }
        storage.free = 1 << 30
        let stems = try (0..<2).map { _ in try recordTake(rig) }
        rig.stuck = [.archivist]
        storage.free = 10_000
        rig.run(.seconds(3))
        #expect(rig.deck.status.faults.contains { $0.code == .diskFull } && !rig.deck.isArmed)
        rig.stuck = []
        for stem in stems {
            rig.deck.perform(.discard(stem: stem)) { _ in }
            _ = rig.workers.archivist.step()
            rig.deck.ready(now: rig.clock.now())
        }
        rig.stuck = [.archivist]
        rig.run(.seconds(3))
        #expect(rig.deck.isArmed)
        #expect(rig.deck.status.freeBytes == 10_000 + (rig.deck.status.binBytes ?? 0))
    }

    @Test func `a take that is half in the bin after a cut is there wholly, and is not recovered`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        #expect(perform(.discard(stem: stem), on: rig) == "done")
        let cut = try rig.cut()
        let copy = cut.path + "/takes"
        let day = try #require(rig.deck.binnedTakes.first?.day)
        try FileManager.default.moveItem(
            atPath: "\(copy)/.bin/\(day)/\(stem).wav", toPath: "\(copy)/\(day)/\(stem).wav")
        try Data(#"{"since_age_seconds":0}"#.utf8).write(to: URL(filePath: "\(copy)/.bin/\(day)/\(stem).json.binned"))
        let again = try Rig(in: cut)
        again.run(.seconds(1))
        #expect(again.deck.binnedTakes.map(\.take) == [stem])
        #expect(try files(of: stem, in: again).allSatisfy { $0.hasPrefix(".bin/") })
        #expect(!again.log.messages.contains { $0.contains(stem) }, "\(again.log.messages)")
    }

    @Test func `what cannot go into the bin stays, with what to do instead, and goes for good if that is meant`() throws
    {
        let rig = try Rig()
        let stem = try recordTake(rig)
        let bin = "\(rig.directory)/.bin"
        try Data().write(to: URL(fileURLWithPath: bin))
        #expect(
            perform(.discard(stem: stem), on: rig)
                == "io: discard: \(stem): \(bin): it is a link or a file, and the bin is a folder: remove it, or to delete it for "
                + "good, use 'fieldfare delete --now'")
        #expect(try rig.sidecars().count == 1 && rig.deck.status.selected == stem)
        #expect(perform(.discard(stem: stem, DiscardTerms(isFinal: true)), on: rig) == "done")
        #expect(rig.log.messages.last == "discard: \(stem): deleted")
    }

    @Test func `another file of one of a take's names is named, and the take stays where it is`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        #expect(perform(.discard(stem: stem), on: rig) == "done")
        let day = try #require(rig.deck.binnedTakes.first?.day)
        let (home, binned) = ("\(rig.directory)/\(day)/\(stem).wav", "\(rig.directory)/.bin/\(day)/\(stem).wav")
        let why = "File exists: move that file to another place, nothing is written over it"
        try Data([9]).write(to: URL(filePath: home))
        #expect(
            perform(.restore(stem: stem, day: nil), on: rig)
                == "io: restore: \(stem): it stays in the bin: move \(binned) to \(home): \(why)")
        #expect(rig.deck.binnedTakes.map(\.take) == [stem])
        try FileManager.default.removeItem(atPath: home)
        #expect(perform(.restore(stem: stem, day: nil), on: rig) == "done")
        try FileManager.default.createDirectory(
            atPath: "\(rig.directory)/.bin/\(day)", withIntermediateDirectories: true)
        try Data([9]).write(to: URL(filePath: binned))
        #expect(
            perform(.discard(stem: stem), on: rig) == "io: discard: move \(home) to \(binned): \(why)")
        #expect(try rig.sidecars().count == 1 && rig.deck.binnedTakes.isEmpty && rig.deck.status.selected == stem)
    }

    @Test func `a take is emptied after thirty days in the bin, whatever the calendar says meanwhile`() throws {
        let rig = try Rig()
        let stem = try recordTake(rig)
        #expect(perform(.discard(stem: stem), on: rig) == "done")
        rig.clock.set(by: .seconds(400 * 86400))
        rig.deck.clockChanged()
        rig.run(.seconds(2 * 3600), step: .seconds(600))
        #expect(rig.deck.binnedTakes.map(\.take) == [stem])
        rig.run(.seconds(30 * 86400), step: .seconds(3 * 3600))
        #expect(rig.deck.binnedTakes.isEmpty)
        #expect(rig.log.messages.contains("bin: \(stem): deleted for good: it was there for 30 days"))
    }
}
