import Files
import Glibc
import Panel
import Recording
import SeededRandom
import TakeFiles
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

@Suite struct StorageTests {
    @Test func `a storage that fails ends the take, shows the fault, and the next take records once it works again`()
        throws
    {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage))
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.seconds(3))
        storage.code = EIO
        rig.run(.seconds(2))
        #expect(rig.deck.state == .fault)
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        #expect(rig.deck.status.faults[0].message.contains("Input/output error"))
        storage.code = nil
        rig.press(.record)
        rig.run(.seconds(1))
        #expect(rig.deck.state == .recording)
        #expect(rig.deck.status.faults == [])
        rig.press(.stop)
        rig.settle()
        // The rest of the first take is recovered once nothing is recorded.
        #expect(try rig.sidecars().map(\.number) == [1, 2])
        #expect(try rig.sidecars().map(\.endedBy) == [.storageError, .stop])
    }

    @Test func `a storage that fails for a moment costs no frame of the take that it ends`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage))
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.seconds(3))
        let frames = rig.deck.progress!.frames
        rig.isSyncStalled = true
        rig.run(.seconds(1))
        storage.code = EIO
        rig.runSync()
        storage.code = nil
        rig.run(.seconds(1))
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .storageError)
        #expect(sidecar.frames > frames)
        let samples = try rig.samples(sidecar.parts[0].file, of: sidecar)
        #expect(difference(samples, 8000..<8000 + Int(sidecar.frames)) == nil)
    }

    @Test func `storage that failed once is reported for a minute, or until it takes a take`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage))
        rig.run(.milliseconds(500))
        func failOnce() {
            rig.press(.record)
            rig.run(.seconds(1))
            storage.code = EIO
            while rig.deck.state == .recording { rig.run(.milliseconds(50)) }
            storage.code = nil
        }
        failOnce()
        rig.run(.seconds(55))
        #expect(rig.deck.isArmed)
        #expect(rig.deck.indication.faults == [.storageFailing])
        rig.run(.seconds(6))
        #expect(rig.deck.indication.faults == [])
        failOnce()
        rig.run(.seconds(3))
        #expect(rig.deck.indication.faults == [.storageFailing])
        rig.press(.record)
        rig.run(.seconds(1))
        #expect(rig.deck.state == .recording)
        #expect(rig.deck.indication.faults == [])
    }

    @Test func `the reason why a take ended is shown for its minute beside takes that are damaged`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage))
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.seconds(1))
        storage.code = EIO
        while rig.deck.state == .recording { rig.run(.milliseconds(50)) }
        storage.code = nil
        rig.run(.seconds(5))
        let ended = rig.deck.status.faults
        #expect(ended.map(\.code) == [.storageFailing])
        rig.deck.damagedTakes = "takes: heron07-0042-061811Z: its sound is damaged"
        let damaged = Fault(
            .storageFailing, "takes: heron07-0042-061811Z: its sound is damaged", about: .damagedTakes)
        rig.run(.seconds(40), step: .milliseconds(500))
        #expect(rig.deck.status.faults == ended + [damaged])
        rig.run(.seconds(20), step: .milliseconds(500))
        #expect(rig.deck.status.faults == [damaged])
    }

    @Test func `no take begins that the reserve would end at once`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage)) { $0.reserveBytes = 1 << 20 }
        // A second of sound is 16 000 bytes.
        storage.free = (1 << 20) + 15_999
        rig.run(.milliseconds(2500))
        #expect(rig.deck.state == .fault)
        rig.press(.record)
        rig.run(.seconds(1))
        #expect(rig.deck.state == .fault)
        #expect(rig.deck.status.faults.map(\.code) == [.diskFull])
        storage.free = (1 << 20) + 32_000
        rig.press(.record)
        rig.run(.milliseconds(500))
        #expect(rig.deck.state == .recording)
    }

    @Test func `a long take has a waveform of all its frames`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        // 8 KiB of it, more than waits in RAM.
        rig.run(.seconds(140))
        rig.press(.stop)
        rig.settle()
        let take = try #require(rig.deck.selection.takes.first)
        let frames = try #require(try rig.sidecars().first).frames
        let pairs = stride(from: 0, to: Int(frames), by: 256).flatMap { first in
            let pixel = (first..<min(first + 256, Int(frames))).map { sampleValue(8000 + $0) >> 8 }
            return [Int8(pixel.min()!), Int8(pixel.max()!)]
        }
        #expect(
            try FileSystem().contents("\(rig.directory)/\(take.day)/\(take.stem).dat")
                == PeaksFile(rateHz: 8000, channels: 1, pairs: pairs).bytes)
    }

    @Test(arguments: [3, 140]) func `a waveform that cannot be written is reported once, and the take goes on`(
        seconds: Int
    ) throws {
        let storage = TroubledStorage()
        storage.refused = ".dat.part"
        let rig = try Rig(files: FileSystem(calls: storage))
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.seconds(seconds))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .stop)
        #expect(rig.deck.status.faults == [])
        let path = "\(rig.directory)/\(rig.deck.selection.takes[0].day)/\(sidecar.take).dat.part"
        #expect(
            rig.log.messages.filter { $0.contains("waveform") } == [
                "record: \(sidecar.take) will have no waveform: create \(path): Input/output error: "
                    + "the storage is failing, replace it"
            ])
    }

    @Test func `a disk that is full ends the take above the reserve, and records again once there is room`() throws {
        let storage = TroubledStorage()
        storage.free = 100 << 20
        let rig = try Rig(files: FileSystem(calls: storage)) { $0.reserveBytes = 64 << 20 }
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.seconds(2))
        storage.free = 63 << 20
        rig.run(.seconds(2))
        #expect(rig.deck.state == .fault)
        #expect(try rig.sidecars().map(\.endedBy) == [.diskFull])
        #expect(rig.deck.status.faults.map(\.code) == [.diskFull])
        #expect(!rig.deck.status.armed)
        rig.press(.record)
        #expect(rig.deck.state == .fault)
        #expect(rig.deck.indication.answer?.kind == .refused)
        storage.free = 200 << 20
        rig.run(.milliseconds(2100))
        #expect(rig.deck.status.armed)
        #expect(rig.deck.status.faults == [])
    }

    @Test func `ten minutes before the disk is full the deck warns`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage)) { $0.reserveBytes = 64 << 20 }
        // 8000 Hz, mono, 16 bits: 16 000 bytes a second.
        storage.free = 64 << 20 + 16_000 * 601
        rig.run(.milliseconds(100))
        #expect(rig.deck.status.faults == [])
        storage.free = 64 << 20 + 16_000 * 599
        rig.run(.milliseconds(2100))
        #expect(
            rig.deck.status.faults == [
                Fault(
                    .diskFull,
                    "storage: \(rig.directory): nearly full: less than 10 min can be recorded: free some space")
            ])
        #expect(rig.deck.status.armed)
    }

    @Test func `while the storage answers, less than a second is not on disk`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.milliseconds(1000), step: .milliseconds(10))
        var worst = Duration.zero
        for _ in 0..<400 {
            rig.run(.milliseconds(10), step: .milliseconds(10))
            worst = max(worst, rig.clock.now() - rig.deck.indication.recording!.safeUntil)
        }
        // A sync takes no time here and no wake-up is late. 0.1 s and 0.05 s are reserved for them.
        #expect(worst <= .milliseconds(860))
        #expect(worst >= .milliseconds(300))
    }

    @Test func `the lamp winks from when a sync is reported, however late that is`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.milliseconds(300))
        let reported = rig.deck.progress?.lastSync
        rig.isSyncStalled = true
        rig.run(.seconds(1))
        #expect(rig.deck.progress?.lastSync == reported)
        rig.runSync()
        rig.clock.advance(by: .milliseconds(180))
        rig.isSyncStalled = false
        rig.turn()
        var display = Display()
        display.show(rig.deck.indication, at: rig.clock.now())
        #expect(rig.deck.progress?.lastSync == rig.clock.now())
        #expect(!display.lit(at: rig.clock.now()).contains(.record))
        #expect(display.lit(at: rig.clock.now() + .milliseconds(80)).contains(.record))
    }

    @Test func `a sync that hangs shows on the lamp`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.seconds(2))
        rig.isSyncStalled = true
        rig.run(.seconds(5))
        let behind = rig.clock.now() - rig.deck.indication.recording!.safeUntil
        #expect(behind > .seconds(4))
        #expect(rig.deck.status.syncedSeconds < rig.deck.status.elapsedSeconds - 4)
        rig.isSyncStalled = false
        rig.run(.seconds(1))
        #expect(rig.clock.now() - rig.deck.indication.recording!.safeUntil < .seconds(1))
    }

    @Test func `after hours with a slow crystal the lamp is still true`() throws {
        let rig = try Rig(rateHz: 1000)
        rig.card.slowness = 200e-6
        rig.run(.milliseconds(500))
        rig.press(.record)
        // At 200 ppm the drift is 2.2 s in three hours, and 1.2 s in 100 minutes. Steps of 10 s keep the test fast.
        for _ in 0..<full(1080, usually: 600) { rig.run(.seconds(10), step: .seconds(10)) }
        rig.run(.seconds(2))
        let behind = rig.clock.now() - rig.deck.indication.recording!.safeUntil
        #expect(behind > .zero && behind < .seconds(1))
    }

    @Test func `storage that failed a take and hangs since then is a fault until it answers`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage))
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.seconds(1))
        storage.code = EIO
        rig.stuck = [.storage]
        rig.run(.seconds(100), step: .milliseconds(500))
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        #expect(rig.deck.state == .fault)
        #expect(!rig.deck.isArmed)
        storage.code = nil
        rig.stuck = []
        rig.run(.seconds(5))
        #expect(rig.deck.status.faults == [])
        #expect(rig.deck.isArmed)
    }

    @Test func `a fault of the storage that is gone is not reported any more`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage))
        rig.run(.milliseconds(100))
        storage.statusCode = EIO
        rig.run(.milliseconds(2100))
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        storage.statusCode = nil
        rig.run(.milliseconds(2100))
        #expect(rig.deck.status.faults == [])
    }
}
