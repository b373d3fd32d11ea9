import Catalog
import Control
import DiskCalls
import Files
import FinishedTakes
import Glibc
import Spectra
import TakeFiles
import Takes
import TestBench
import Testing
import Transport
import Upload

@testable import Library

@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) final class SpectraDeskTests: SpectraKit {
    private func sound(_ sidecar: Sidecar) -> RecordedSound { sidecar.sounds[0] }

    private func open(
        _ sidecar: Sidecar, _ wish: SpectraGate.Wish = .newTake
    ) throws -> SpectrumRecording {
        guard case .open(let columns) = desk.begin(sound(sidecar), of: sidecar.identity, wish) else {
            throw NotBegun()
        }
        return columns
    }

    private struct NotBegun: Error {}

    private func isLater(_ sidecar: Sidecar, _ wish: SpectraGate.Wish = .newTake) -> Bool {
        if case .later = desk.begin(sound(sidecar), of: sidecar.identity, wish) { true } else { false }
    }

    private func isNoRoom(_ sidecar: Sidecar, _ wish: SpectraGate.Wish) -> Bool {
        if case .noRoom = desk.begin(sound(sidecar), of: sidecar.identity, wish) { true } else { false }
    }

    private func isNeedless(_ sidecar: Sidecar, _ wish: SpectraGate.Wish = .newTake) -> Bool {
        if case .needless = desk.begin(sound(sidecar), of: sidecar.identity, wish) { true } else { false }
    }

    // MARK: - With the comparison of sounds

    @Test(arguments: [true, false])
    func `a take is read once for its fingerprint and its columns`(hasFingerprint: Bool) async throws {
        let sidecar = try await add(
            InspectedKit.sidecar(1, parts: 2, hasTwin: true), hasFingerprint: hasFingerprint)
        try await compare(sidecar)
        // Twins have none.
        #expect(names == sidecar.parts.map { "\(RecordedSound.base(of: $0.file)).spectrum" }.sorted())
        for (index, part) in sidecar.parts.enumerated() {
            #expect(try file(sidecar, part: index) == expected(part, sidecar, seed: 2 * index))
            let path = "\(tested.disk.takes)/\(TakesOnDisk.name(sidecar).day)/\(part.file)"
            // Its head is also read to know whether it is FLAC, and whose file it is.
            let length = try FileSystem().attributes(path).byteCount
            let heads = 8 + Int64(WAVHeader.byteCount)
            #expect((length...length + heads).contains(storage.bytesRead(part.file)))
        }
        let found = try columns(sidecar)
        #expect(found.computed == 1 && found.obstacle == nil && found.readers.allSatisfy { $0 != nil })
        #expect(found.sounds?.count == 2)
        #expect(settle().files == [] && warnings == [])
    }

    @Test func `FLAC has the same columns as WAV, and they stay valid when a take is converted`() async throws {
        let format = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s16)
        let directory = try TakesDirectory(path: tested.disk.takes)
        let name = try directory.nextTake(kit: "heron07", started: TakesOnDisk.morning)
        var sidecar = TakesOnDisk.sidecar(1)
        sidecar.take = name.stem
        sidecar.parts = []
        sidecar.frames = 0
        let output = try TakeOutput(
            in: directory, name: name, sidecar: sidecar, started: TakesOnDisk.morning, format: format,
            keepsUnfiltered: false)
        let sound = TakesOnDisk.sound(bytes: 4 * 96_000, seed: 3)
        try sound.withUnsafeBytes { try output.append($0, unfiltered: nil) }
        _ = try output.finish(endedBy: .stop, levels: [])
        await tested.indexer.scanAll()
        let recorded = try directory.sidecar(of: name)
        try await inspector.check(name, in: tested.disk.takes, .changed)
        let columns = try file(recorded)
        #expect(columns == (try expected(recorded.parts[0], recorded, seed: 3)))
        _ = try directory.revise(name) { $0.pendingFormat = "flac" }
        let conversion = FLACConversion(of: name, in: directory, reserveBytes: 0)
        while try conversion.step() == nil {}
        let converted = try directory.sidecar(of: name)
        #expect(converted.parts[0].file.hasSuffix(".flac"))
        await tested.indexer.scanAll()
        try await inspector.check(name, in: tested.disk.takes, .changed)
        #expect(try self.columns(converted).computed == 1 && settle().files == [])
        try FileSystem().remove("\(folder)/\(name.stem).spectrum")
        clock.advance(by: SpectraWork.interval)
        #expect(settle().files == [name.stem])
        #expect(try file(converted) == columns)
    }

    @Test func `damaged sound leaves nothing, and its whole spectrum cannot be had`() async throws {
        let sidecar = try await add(Self.long(1))
        let path = "\(tested.disk.takes)/\(TakesOnDisk.name(sidecar).day)/\(sidecar.parts[0].file)"
        var bytes = try FileSystem().contents(path, limit: 1 << 30)
        bytes[bytes.count - 100] ^= 1
        try tested.disk.write(bytes, to: path)
        await #expect(throws: StoreError.self) { try await self.compare(sidecar) }
        #expect(names == [] && warnings == [])
        let found = try columns(sidecar)
        #expect(found.computed == 0)
        guard case .damage(let sentence)? = found.obstacle else { throw NotBegun() }
        #expect(sentence.hasPrefix("\(sidecar.parts[0].file): its sound is not what was recorded"))
        #expect(settle().files == [] && names == [])
    }

    @Test func `columns that cannot be stored change no finding, are reported once, and are made later`() async throws {
        storage.writeError = ENOSPC
        var sidecars: [Sidecar] = []
        for number in 1...2 {
            sidecars.append(try await add(Self.long(number, seconds: 1)))
            try await compare(sidecars[number - 1])
        }
        #expect(try tested.catalog.page(TakeQuery()).takes().map(\.sound) == [.asRecorded, .asRecorded])
        #expect(names == [])
        #expect(warnings.count == 1 && warnings[0].hasSuffix(": its spectrogram is computed later"))
        #expect(settle().files == [])
        guard case .failure? = try columns(sidecars[0]).obstacle else { throw NotBegun() }
        storage.writeError = nil
        clock.advance(by: .seconds(601))
        #expect(settle().files == sidecars.reversed().map(\.take))
        #expect(try columns(sidecars[0]).obstacle == nil && warnings.count == 1)
    }

    @Test func `while sound waits for the disk, a take is compared, and its columns are dropped`() async throws {
        record(.unsynced(seconds: 2.5))
        let sidecar = try await add(Self.long(1))
        try await compare(sidecar)
        #expect(try tested.catalog.page(TakeQuery()).takes().map(\.sound) == [.asRecorded])
        #expect(names == [])
        #expect(settle().pause == SpectraDesk.pause && names == [])
    }

    // MARK: - One part at a time

    @Test func `one part is computed at a time, and that of a take that somebody looks at goes first`() throws {
        let (first, second) = (Self.long(1), Self.long(2))
        let bytes = [UInt8](repeating: 1, count: 4000)
        var columns: SpectrumRecording? = try open(first)
        columns?.append(bytes.span.bytes)
        #expect(columns?.isOpen == true && drafts.count == 1)
        #expect(isLater(second))
        // Somebody looks at the take that is computed anyway.
        desk.look(at: first.identity)
        columns?.append(bytes.span.bytes)
        #expect(columns?.isOpen == true)
        // Two people look at two takes: the first one waits no longer because of the second.
        desk.look(at: second.identity)
        columns?.append(bytes.span.bytes)
        #expect(columns?.isOpen == true && desk.nextLook() == first.identity)
        columns = nil
        #expect(drafts == [])
        desk.settle(first.identity)
        columns = try open(first)
        desk.look(at: second.identity)
        columns?.append(bytes.span.bytes)
        #expect(columns?.isOpen == false)
        #expect(drafts == [] && isLater(second))
        columns = nil
        let other = try open(second)
        #expect(other.isOpen && desk.nextLook() == second.identity)
    }

    @Test func `a phone that asks no more is not waited for`() {
        let (first, second) = (Self.long(1), Self.long(2))
        desk.look(at: first.identity)
        clock.advance(by: .seconds(20))
        desk.look(at: second.identity)
        #expect(desk.nextLook() == first.identity)
        clock.advance(by: .seconds(11))
        #expect(desk.nextLook() == second.identity)
        clock.advance(by: .seconds(20))
        #expect(desk.nextLook() == nil)
    }

    @Test func `the recorder is asked every ten seconds, and a part ends when it falls behind`() throws {
        let bytes = [UInt8](repeating: 1, count: 4000)
        let columns = try open(Self.long(1))
        for _ in 0..<100 { columns.append(bytes.span.bytes) }
        #expect(recording.withLock { $0.count } == 1)
        record(.unsynced(seconds: 60))
        columns.append(bytes.span.bytes)
        #expect(columns.isOpen)
        clock.advance(by: SpectraDesk.pause)
        columns.append(bytes.span.bytes)
        #expect(!columns.isOpen && drafts == [])
        #expect(recording.withLock { $0.count } == 2)
    }

    @Test func `sound that is longer than its sidecar says is no failure of the columns`() throws {
        let sidecar = Self.long(1, seconds: 0.1)
        let columns = try open(sidecar)
        let bytes = [UInt8](repeating: 1, count: 40_000)
        for _ in 0..<200 { columns.append(bytes.span.bytes) }
        #expect(!columns.isOpen)
        columns.finish(.otherLength(frames: 100_000))
        #expect(names == [] && warnings == [])
        guard case .damage? = try self.columns(sidecar).obstacle else { throw NotBegun() }
        #expect(isNeedless(sidecar))
    }

    @Test func `a rate that no spectrum has is reported once`() {
        var sidecar = Self.long(1)
        sidecar.parts[0].rateHz = 500
        #expect(isNeedless(sidecar) && isNeedless(sidecar))
        #expect(warnings.count == 1 && warnings[0].contains("the rate in hertz is 500"))
    }

    // MARK: - Space

    /// A file of columns that was never looked at.
    private func make(_ sidecar: Sidecar, megabytes: Int64) throws {
        let base = RecordedSound.base(of: sidecar.parts[0].file)
        mkdir(folder, 0o700)
        let files = FileSystem()
        try files.truncate(try files.create("\(folder)/\(base).spectrum", isNew: false), to: megabytes << 20)
    }

    @Test func `older takes do not push out others, and a new one pushes out the oldest`() throws {
        let takes = (1...3).map { Self.long($0) }
        for take in takes { try make(take, megabytes: 85) }
        // 255 of 256 MiB.
        var new = Self.long(5)
        new.parts[0].frames = 48_000 * 3600
        #expect(isNoRoom(new, .background))
        #expect(names.count == 3)
        let columns = try open(new)
        #expect(columns.isOpen && drafts.count == 1)
        #expect(names.filter { $0.hasSuffix(".spectrum") } == takes[1..<3].map { "\($0.take).spectrum" })
        // It is not computed again by itself.
        #expect(isNeedless(takes[0], .background) && isLater(takes[0]))
    }

    @Test func `nothing is removed for a file that does not fit anyway`() throws {
        try make(Self.long(1), megabytes: 1)
        storage.free = 512 << 20 - 10 << 20
        #expect(isNoRoom(Self.long(2), .newTake))
        #expect(names.count == 1)
        desk.look(at: Self.long(2).identity)
        #expect(isNoRoom(Self.long(2), .newTake))
        #expect(try columns(Self.long(2)).obstacle == .noRoom)
        clock.advance(by: SpectraDesk.pause)
        #expect(try columns(Self.long(2)).obstacle == nil)
    }

    @Test func `when space is short, files go until it is enough or none is left, and nothing else`() throws {
        let takes = (1...3).map { Self.long($0) }
        for take in takes { try make(take, megabytes: 10) }
        try tested.disk.write([1], to: "\(folder)/notes.txt")
        try tested.disk.write([1], to: "\(folder)/a.spectrum.txt")
        let others = ["a.spectrum.txt", "notes.txt"]
        storage.free = 512 << 20
        desk.makeRoom()
        #expect(names.count == 5)
        storage.free = (512 << 20) - 1
        desk.makeRoom()
        #expect(names == [others[0], "\(takes[1].take).spectrum", "\(takes[2].take).spectrum", others[1]].sorted())
        storage.free = 1
        desk.makeRoom()
        #expect(names == others)
    }
}
