import Foundation
import Panel
import TakeFiles
import TakePlaces
import Takes
import TestBench
import Testing
import Transport
import Workers

@testable import Deck

/// Frames are named by the card's frame number. At 8000 Hz a millisecond is 8 frames.
@Suite struct TakeTests {
    @Test func `a take holds what was sampled between the two presses, to the frame`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1230))
        rig.press(.record)
        rig.run(.milliseconds(2345))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        // Each press is known after 15 ms, and that does not change the take.
        #expect(sidecar.frames == 8 * (2345 + 15))
        let samples = try rig.samples(sidecar.parts[0].file, of: sidecar)
        #expect(difference(samples, 9840..<9840 + 8 * 2360) == nil)
        #expect(sidecar.endedBy == .stop)
        #expect(sidecar.preRollFrames == 0)
        #expect(sidecar.startedMonotonicNs == 101_230_000_000)
        #expect(sidecar.gaps == [])
        #expect(sidecar.take == "heron07-0001_20261121_061812")
    }

    @Test func `a take that is stopped at once holds no frame, and is a take`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(500))
        let instant = rig.clock.now()
        rig.deck.handle(.press(.record, at: instant))
        rig.deck.handle(.press(.stop, at: instant))
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.frames == 0)
        let samples = try rig.samples(sidecar.parts[0].file, of: sidecar)
        #expect(samples.isEmpty)
    }

    @Test func `a card that is opened for the take, and takes its time, does not move its date`() throws {
        let rig = try Rig { $0.isListening = false }
        rig.run(.milliseconds(1000))
        rig.card.openingTime = .milliseconds(800)
        rig.press(.record)
        rig.run(.seconds(2))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        let started = rig.clock.offset().wallTime(at: Instant(nanoseconds: sidecar.startedMonotonicNs))
        #expect(sidecar.started == started.iso8601)
        #expect(sidecar.startedCorrected == nil)
    }

    @Test func `the pre-roll comes before the press`() throws {
        let rig = try Rig { $0.preRoll = .seconds(2) }
        rig.run(.seconds(5))
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.preRollFrames == 16000)
        #expect(sidecar.frames == 16000 + 8 * 1015)
        #expect(sidecar.startedMonotonicNs == 103_000_000_000)
        #expect(sidecar.started == "2026-11-21T06:18:14.000000Z")
        let first = try rig.samples(sidecar.parts[0].file, of: sidecar).first
        #expect(first == 24000)
    }

    @Test func `the pre-roll is on the disk as soon as the take has begun`() throws {
        let rig = try Rig { $0.preRoll = .seconds(2) }
        rig.run(.seconds(5))
        rig.press(.record)
        rig.run(.milliseconds(100))
        #expect(rig.deck.status.syncedSeconds > 1.7)
    }

    @Test func `a pre-roll that is not there yet is as long as can be, and the start is true`() throws {
        let rig = try Rig {
            $0.preRoll = .seconds(30)
            $0.keepsUnfiltered = true
            $0.splitBytes = 24_576
        }
        rig.run(.milliseconds(700))
        rig.press(.record)
        rig.run(.seconds(2))
        // The file on disk has the same date while the take is in progress.
        for suffix in ["", "-raw"] {
            let day = "\(rig.directory)/2026-11-21"
            let file = "\(day)/\(rig.deck.status.take!.file("\(suffix).wav.part"))"
            #expect(try origin(of: file)?.started?.iso8601 == "2026-11-21T06:18:11.000000Z")
        }
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.preRollFrames == 8 * 700)
        #expect(sidecar.startedMonotonicNs == 100_000_000_000)
        #expect(sidecar.started == "2026-11-21T06:18:11.000000Z")
        let first = try rig.samples(sidecar.parts[0].file, of: sidecar).first
        #expect(first == 0)
        #expect(sidecar.parts.count > 1)
        for part in sidecar.parts {
            for file in [part.file, try #require(part.unfilteredFile)] {
                let stated = try #require(origin(of: "\(rig.directory)/2026-11-21/\(file)")?.started)
                // 06:18:11 plus the frames before the part, to a frame.
                let due = 22_691_000_000 + part.firstFrame.count * 125
                #expect(abs(stated.microsecondsOfDay - due) <= 125)
            }
        }
    }

    @Test(arguments: [true, false]) func `a take that began later than was asked for does so after a cut as well`(
        isDraftThere: Bool
    ) throws {
        let rig = try Rig { $0.preRoll = .seconds(30) }
        rig.run(.milliseconds(3000))
        rig.press(.record)
        rig.run(.seconds(2))
        let cut = try rig.cut()
        let day = cut.path + "/takes/2026-11-21"
        let stem = try #require(rig.deck.status.take)
        if !isDraftThere { try FileManager.default.removeItem(atPath: "\(day)/\(stem).json.part") }
        let after = try Rig(in: cut)
        after.turn()
        let sidecar = try #require(try after.sidecars().first)
        #expect(sidecar.started == "2026-11-21T06:18:11.000000Z")
        #expect(
            try origin(of: "\(day)/\(stem).wav")?.started?.iso8601 == "2026-11-21T06:18:11.000000Z")
    }

    /// The origin that the header of an audio file states.
    private func origin(of path: String) throws -> BroadcastOrigin? {
        let reader = try SoundFileReader(path: path)
        return reader.origin()
    }

    @Test func `markers name the frame sampled at the press`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(1485))
        rig.press(.record)
        rig.run(.milliseconds(485))
        var status: Status?
        rig.deck.perform(.mark(note: "a wren")) { status = try? $0.get() }
        #expect(status?.state == .recording)
        rig.run(.milliseconds(1000))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(
            sidecar.markers == [
                Sidecar.Marker(atFrame: 8 * 1500, note: nil), Sidecar.Marker(atFrame: 8 * 2000, note: "a wren"),
            ])
    }

    @Test func `markers within what was lost lie where they were set, each at a frame of its own`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(1985))
        for _ in 0..<2 {
            rig.card.overrun(for: .milliseconds(250))
            for ago in [200, 50, 50, 0] {
                rig.deck.handle(.press(.record, at: rig.clock.now() - .milliseconds(ago)))
            }
            // Whole periods.
            rig.run(.milliseconds(800))
        }
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.gaps.map(\.atFrame.count) == [16_000, 24_400] && sidecar.gaps.map(\.frames) == [2000, 2000])
        let first: [Int64] = [16_400, 17_599, 17_600, 18_000]
        #expect(sidecar.markers.map(\.atFrame.count).sorted() == first + first.map { $0 + 8400 })
    }

    @Test func `a press within what was lost counts the silence before it as pre-roll`() throws {
        let rig = try Rig { $0.preRoll = .seconds(2) }
        rig.run(.milliseconds(3000))
        rig.card.overrun(for: .milliseconds(500))
        rig.deck.handle(.press(.record, at: rig.clock.now() - .milliseconds(250)))
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.preRollFrames == 16_000)
        #expect(sidecar.gaps == [Sidecar.Gap(atFrame: 14_000, frames: 4000, cause: .xrun)])
    }

    @Test func `what the card's overrun lost is silent in the file and listed`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(1985))
        rig.card.overrun(for: .milliseconds(250))
        rig.run(.milliseconds(750))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.frames == 8 * 3000)
        #expect(sidecar.gaps == [Sidecar.Gap(atFrame: 16000, frames: 2000, cause: .xrun)])
        let samples = try rig.samples(sidecar.parts[0].file, of: sidecar)
        let expected =
            Array(8000..<24000) + Array(repeating: 0, count: 2000) + Array(26000..<8000 + Int(sidecar.frames))
        #expect(difference(samples, expected) == nil)
        #expect(rig.deck.status.faults.map(\.code) == [.overload])
    }

    @Test func `a storage that stalls for 20 s costs no frame, and one that stalls for longer is listed`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        // The writer hangs in a write.
        for _ in 0..<200 {
            rig.clock.advance(by: .milliseconds(100))
            rig.card.deliver()
        }
        rig.run(.milliseconds(1000))
        for _ in 0..<400 {
            rig.clock.advance(by: .milliseconds(100))
            rig.card.deliver()
        }
        rig.run(.milliseconds(1000))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.frames == 8 * (985 + 20_000 + 1000 + 40_000 + 1000 + 15))
        #expect(Set(sidecar.gaps.map(\.cause)) == [.stall])
        let lost = sidecar.gaps.reduce(0) { $0 + $1.frames }
        // The ring holds 30 s, of which the writer had left a little unread.
        #expect(lost >= 8 * 10_000 && lost <= 8 * 10_300)
        let samples = try rig.samples(sidecar.parts[0].file, of: sidecar)
        let gap = sidecar.gaps.reduce(into: Set<Int64>()) {
            $0.formUnion($1.atFrame.count..<$1.atFrame.count + $1.frames)
        }
        let expected = (0..<Int(sidecar.frames)).map { gap.contains(Int64($0)) ? 0 : 8000 + $0 }
        #expect(difference(samples, expected) == nil)
    }

    @Test func `a filter that is changed during the take is listed with its frame`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(1000))
        var refusal: Refusal?
        rig.deck.perform(.filter(lowPass: .hertz(5000), slopeDBPerOctave: nil, highPass: nil)) {
            if case .failure(let reason) = $0 { refusal = reason }
        }
        #expect(refusal?.code == .badData)
        #expect(refusal?.message.contains("20 to 3600 Hz") ?? false)
        #expect(refusal?.message.hasSuffix("; the filter stays as it is") ?? false)
        rig.deck.perform(.filter(lowPass: .hertz(1000), slopeDBPerOctave: 48, highPass: .hertz(80))) { _ in }
        #expect(rig.deck.status.lowPassHz == 1000)
        rig.run(.milliseconds(1000))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.filter.count == 2)
        #expect(
            sidecar.filter[0] == Sidecar.FilterChange(atFrame: 0, lowPassHz: nil, slopeDBPerOctave: 24, highPassHz: nil)
        )
        let change = sidecar.filter[1]
        #expect(change.lowPassHz == 1000 && change.highPassHz == 80 && change.slopeDBPerOctave == 48)
        #expect(change.atFrame.count > 0 && change.atFrame.count <= 8 * 1015)
    }

    @Test func `a cutoff that the card's rate cannot have is off, and says so`() throws {
        let rig = try Rig { $0.filter = FilterRequest(lowPass: .hertz(20000)) }
        rig.run(.milliseconds(100))
        #expect(rig.deck.status.lowPassHz == nil)
        #expect(rig.deck.status.faults.map(\.code) == [.settings])
        #expect(rig.deck.status.armed)
    }

    @Test func `the unfiltered twin is what the card said`() throws {
        let rig = try Rig {
            $0.keepsUnfiltered = true
            $0.filter = FilterRequest(lowPass: .hertz(500))
        }
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        let file = sidecar.parts[0].file
        let twin = try rig.samples(file.twin, of: sidecar)
        #expect(difference(twin, 8000..<16000) == nil)
        let isSame = try rig.samples(file, of: sidecar) == twin
        #expect(!isSame)
    }

    @Test func `a filtered take begins as if the filter had always run`() throws {
        let rig = try Rig { $0.filter = FilterRequest(lowPass: .hertz(100)) }
        rig.card.sample = 10000
        rig.run(.milliseconds(1500))
        rig.press(.record)
        rig.run(.milliseconds(500))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        let samples = try rig.samples(sidecar.parts[0].file, of: sidecar)
        #expect(Set(samples) == [10000])
    }

    @Test func `numbers go on, whatever the clock does`() throws {
        let rig = try Rig()
        for jump in [Duration.zero, .seconds(-315_360_000), .seconds(630_720_000)] {
            rig.clock.set(by: jump)
            rig.run(.milliseconds(500))
            rig.press(.record)
            rig.run(.milliseconds(500))
            rig.press(.stop)
            rig.settle()
        }
        #expect(try rig.sidecars().map(\.number) == [1, 2, 3])
        #expect(try rig.sidecars().map(\.frames) == [4120, 4120, 4120])
    }
}

@Suite struct LossTests {
    @Test func `what the ring lost before a stop is silent up to the stop, though the card reports it later`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        // The writer hangs. The ring is full after 30 s, stop comes at 35 s, and the writer wakes at 40 s.
        for _ in 0..<350 {
            rig.clock.advance(by: .milliseconds(100))
            rig.card.deliver()
            _ = rig.deck.turn(now: rig.clock.now())
            _ = rig.workers.storage.step()
        }
        // The loss is reported while it happens.
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing, .overload])
        rig.deck.handle(.press(.stop, at: rig.clock.now()))
        for _ in 0..<50 {
            rig.clock.advance(by: .milliseconds(100))
            rig.card.deliver()
        }
        rig.run(.seconds(1))
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.frames == 8 * 36_000)
        let gap = try #require(sidecar.gaps.first)
        #expect(sidecar.gaps.count == 1 && gap.cause == .stall)
        #expect(gap.atFrame.count + gap.frames == sidecar.frames)
        let samples = try rig.samples(sidecar.parts[0].file, of: sidecar)
        let expected = Array(8000..<8000 + Int(gap.atFrame.count)) + Array(repeating: 0, count: Int(gap.frames))
        #expect(difference(samples, expected) == nil)
    }

    @Test func `a take that begins within a loss is silent until the card is back, and a marker keeps its place`()
        throws
    {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.card.overrun(for: .milliseconds(200))
        let press = rig.clock.now() - .milliseconds(50)
        rig.deck.handle(.press(.record, at: press))
        rig.run(.milliseconds(1000))
        rig.card.overrun(for: .milliseconds(100))
        rig.run(.milliseconds(100))
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.startedMonotonicNs == press.nanoseconds)
        #expect(sidecar.gaps.map(\.frames) == [400, 800])
        #expect(sidecar.gaps.map(\.atFrame.count) == [0, 8400])
        #expect(sidecar.frames == 8 * (50 + 1000 + 100 + 100 + 1000))
        #expect(sidecar.markers == [Sidecar.Marker(atFrame: 8 * 1250, note: nil)])
    }

    @Test func `the pre-roll counts what was lost in it`() throws {
        let rig = try Rig { $0.preRoll = .seconds(2) }
        rig.run(.milliseconds(3000))
        rig.card.overrun(for: .milliseconds(500))
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(500))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.preRollFrames == 16000)
        #expect(sidecar.gaps == [Sidecar.Gap(atFrame: 4000, frames: 4000, cause: .xrun)])
        #expect(sidecar.frames == 16000 + 8 * 515)
    }
}
