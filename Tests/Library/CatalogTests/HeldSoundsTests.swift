import DiskCalls
import FinishedTakes
import Takes
import Testing

@testable import Catalog

@Suite(.waitsOnNamedThreads) struct HeldSoundsTests {
    private let takes: CatalogedTakes

    init() throws { takes = try CatalogedTakes() }

    private var catalog: Catalog { takes.catalog }

    private func add(_ number: Int, isCompared: Bool = true, problem: String? = nil) throws -> String {
        var sidecar = TakesOnDisk.sidecar(number, started: TakesOnDisk.morning + .seconds(60 * number))
        sidecar.parts[0].unfilteredFile = TakesOnDisk.name(sidecar).audioFile(part: 1, isUnfiltered: true)
        let stem = try takes.add(sidecar)
        guard isCompared else { return stem }
        _ = try catalog.note(stem) { notes in
            notes.sounds = sidecar.audioFiles.map { file in
                var sound = TakeNotes.SoundNote(file: file, bytes: 44, modifiedNs: 1, frames: sidecar.frames)
                sound.fingerprint = .capture
                sound.problem = problem
                return sound
            }
        }
        return stem
    }

    @Test func `compared takes that are not damaged are found, the newest first, some at a time`() throws {
        let stems = try (1...7).map { number in
            try add(number, isCompared: number != 3, problem: number == 5 ? "it is cut" : nil)
        }
        var found: [[String]] = []
        var last: Int64?
        while true {
            let page = try catalog.heldSounds(before: last, limit: 2)
            guard let row = page.last else { break }
            found.append(page.flatMap(\.bases))
            #expect(page.map(\.take.take.stem) == page.flatMap(\.bases))
            last = row.id
        }
        #expect(found == [[stems[6], stems[5]], [stems[3], stems[1]], [stems[0]]])
        #expect(try catalog.setPresent([]).isEmpty)
        #expect(try catalog.heldSounds(before: nil, limit: 10).isEmpty)
    }

    @Test func `a take is found where it is, unless its storage is out`() throws {
        let identity = TakeIdentity(stem: try add(1))
        let found = try #require(try catalog.location(of: identity))
        #expect(found.identity == identity && found.folder == takes.disk.takes)
        #expect(try catalog.location(of: TakeIdentity(stem: "heron07-0002_20261121_061811")) == nil)
        #expect(try catalog.setPresent([]).isEmpty)
        #expect(try catalog.location(of: identity) == nil)
    }

    @Test func `an audio file belongs to a take, also on a storage that is out`() throws {
        let stem = try add(1)
        #expect(try catalog.setPresent([]).isEmpty)
        let twin = TakeName(stem: stem, day: "")?.audioFile(part: 1, isUnfiltered: true).dropLast(4) ?? ""
        #expect(try catalog.listsSound(stem) && catalog.listsSound(String(twin)))
        for other in ["heron07-0002_20261121_061811", "heron07-0001_20261121_061811", "other", "", "\(stem).wav"] {
            #expect(try !catalog.listsSound(other), "\(other)")
        }
    }
}
