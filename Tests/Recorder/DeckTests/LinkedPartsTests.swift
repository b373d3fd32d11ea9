import Foundation
import Panel
import Ring
import TakePlaces
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// A take whose card goes away and comes back. At 8000 Hz a millisecond is 8 frames. The card counts from 0 at each
/// opening.
@Suite struct LinkedPartsTests {
    @Test func `a take goes on in a linked part when its card comes back, and the time between is a jump`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(2985))
        rig.card.unplug()
        rig.run(.milliseconds(300))
        #expect(rig.deck.state == .recording)
        #expect(rig.deck.status.faults.map(\.code) == [.noCard])
        #expect(rig.deck.status.elapsedSeconds == 3)
        #expect(rig.deck.status.syncedSeconds == 3)
        rig.run(.milliseconds(6750))
        #expect(rig.deck.indication.recording.map { rig.clock.now() - $0.safeUntil > .seconds(2) } ?? false)
        rig.card.plugIn()
        rig.deck.rescan()
        rig.run(.milliseconds(2000))
        #expect(rig.deck.status.faults == [])
        #expect(rig.deck.status.gaps == 1)
        rig.press(.record)
        rig.run(.milliseconds(1000))
        rig.press(.stop)
        rig.settle()

        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .stop)
        #expect(
            sidecar.parts.map(\.file) == ["heron07-0001_20261121_061812.wav", "heron07-0001-p2_20261121_061822.wav"])
        #expect(sidecar.parts[0].frames == 8 * 3000)
        // The card was opened in the first turn after it came back.
        let back = sidecar.parts[1].firstFrame.count
        #expect(back >= 8 * 10_050 && back <= 8 * 10_100)
        #expect(sidecar.gaps == [Sidecar.Gap(atFrame: 8 * 3000, frames: back - 8 * 3000, cause: .cardLost)])
        #expect(sidecar.frames == sidecar.parts[0].frames + sidecar.parts[1].frames)
        #expect(sidecar.durationSeconds == Double(sidecar.frames) / 8000)
        let first = try rig.samples(sidecar.parts[0].file, of: sidecar)
        #expect(difference(first, 8000..<32000) == nil)
        let second = try rig.samples(sidecar.parts[1].file, of: sidecar)
        #expect(difference(second, 0..<Int(sidecar.parts[1].frames)) == nil)
        // 3015 ms after the return of the card was known, like every press on this rig.
        #expect(sidecar.markers == [Sidecar.Marker(atFrame: 8 * 12_050, note: nil)])
        #expect(back + sidecar.parts[1].frames == 8 * (12_050 + 1015))
        #expect(sidecar.levels.count == 1 && sidecar.levels[0].peakDBFS != nil)
        #expect(Set(rig.card.opened.dropFirst().map(\.expected)) == [[.cardID("Scripted")]])
    }

    @Test func `how long the card was away does not depend on its crystal`() throws {
        let rig = try Rig()
        // 200 ppm fast: 40 ms in 200 s.
        rig.card.slowness = -0.0002
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.seconds(200))
        let started = rig.card.started
        rig.card.unplug()
        rig.run(.milliseconds(700))
        rig.card.plugIn()
        rig.deck.rescan()
        rig.run(.milliseconds(1000))
        let back = rig.card.started
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        let sampled = Double(8 * 1000 + sidecar.parts[0].frames) / (8000 * 1.0002)
        let away = (back - started).inSeconds - sampled
        let gap = try #require(sidecar.gaps.first)
        #expect(sidecar.gaps.count == 1 && gap.cause == .cardLost)
        // The press is located to a millisecond.
        #expect(abs(Double(gap.frames) / 8000 - away) < 0.003)
    }

    @Test func `a part of another rate keeps the take's timeline`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.card.unplug()
        rig.run(.milliseconds(1000))
        rig.card.plugIn(rateHz: 16_000)
        rig.deck.rescan()
        rig.run(.milliseconds(1000))
        rig.deck.perform(.filter(lowPass: .hertz(1000), slopeDBPerOctave: nil, highPass: nil)) { _ in }
        rig.press(.record)
        rig.run(.milliseconds(485))
        rig.card.overrun(for: .milliseconds(250))
        rig.run(.milliseconds(250))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.rateHz == 8000)
        #expect(sidecar.parts.map(\.rateHz) == [8000, 16_000])
        let part = sidecar.parts[1]
        #expect(part.firstFrame.count == 8 * (2050 + 500))
        #expect(part.firstFrame.count + part.frames / 2 == 8 * (3000 + 15 + 485 + 250 + 250))
        #expect(sidecar.markers == [Sidecar.Marker(atFrame: 8 * 3000, note: nil)])
        #expect(sidecar.filter.count == 2)
        #expect(
            sidecar.filter.last!.atFrame.count > part.firstFrame.count && sidecar.filter.last!.atFrame.count < 8 * 3015)
        #expect(sidecar.gaps.count == 2)
        #expect(sidecar.gaps.last == Sidecar.Gap(atFrame: 8 * 3500, frames: 8 * 250, cause: .xrun))
    }

    @Test func `after ten minutes without its card the take ends, with what was sampled`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.card.unplug()
        rig.run(.seconds(599), step: .seconds(1))
        #expect(rig.deck.state == .recording)
        #expect(try rig.sidecars() == [])
        rig.run(.seconds(5), step: .seconds(1))
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .cardLost)
        #expect(sidecar.frames == 8000)
        #expect(sidecar.parts.count == 1)
        #expect(sidecar.gaps == [])
        rig.card.plugIn()
        rig.run(.seconds(3))
        #expect(rig.deck.isArmed)
    }

    @Test func `a take that waits for its card is not cut, and is the next time`() throws {
        let rig = try Rig { $0.rules.newTakeEvery = .seconds(10) }
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.seconds(8))
        rig.card.unplug()
        rig.run(.seconds(5))
        #expect(rig.deck.state == .recording)
        #expect(try rig.sidecars() == [])
        rig.card.plugIn()
        rig.deck.rescan()
        rig.run(.seconds(12))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        let takes = try rig.sidecars()
        #expect(takes.map(\.endedBy) == [.next, .stop])
        #expect(takes.map(\.parts.count) == [2, 1])
        #expect(try #require(takes.first?.parts.last).firstFrame.count > 8 * 10_000)
    }

    @Test func `stop while the card is away ends the take where the sound went away`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.card.unplug()
        rig.run(.seconds(3))
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .stop)
        #expect(sidecar.frames == 8000)
        #expect(sidecar.markers == [Sidecar.Marker(atFrame: 8000, note: nil)])
        #expect(rig.deck.state == .fault)
    }

    @Test func `a stop just before the card goes ends the take at the stop`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        let instant = rig.clock.now()
        rig.clock.advance(by: .milliseconds(100))
        rig.card.deliver()
        rig.deck.handle(.press(.stop, at: instant))
        rig.card.unplug()
        rig.turn()
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .stop)
        #expect(sidecar.frames == 8000)
    }

    @Test func `a card that stalls is opened again at once, and is back only when it delivers`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(3000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.card.stall()
        rig.run(.milliseconds(200))
        // It was opened again, and is as silent as before.
        #expect(rig.card.opened.count == 2)
        for _ in 0..<3 {
            rig.run(.milliseconds(2000))
            #expect(rig.deck.status.faults.map(\.code) == [.noCard])
            #expect(rig.deck.capturePosition == 32_000)
            rig.card.stall()
        }
        rig.run(.milliseconds(50))
        rig.card.plugIn()
        rig.run(.milliseconds(3000))
        #expect(rig.deck.status.faults == [])
        #expect(rig.deck.capturePosition! > 32_000)
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.parts.count == 2)
        #expect(sidecar.gaps.map(\.cause) == [.cardLost])
        #expect(sidecar.parts[0].frames == 8 * 1000)
    }

    @Test func `while a card stalls, it is not reported as armed`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(3000))
        rig.card.stall()
        // It is opened again after 0.1 s, and again 2 s after it was silent for 1.5 s.
        rig.run(.milliseconds(3800))
        #expect(rig.card.isOpen)
        #expect(!rig.deck.isArmed)
        #expect(rig.deck.state == .fault)
        rig.card.plugIn()
        rig.run(.milliseconds(500))
        #expect(rig.deck.isArmed)
    }

    @Test func `a card that goes before the take's first frame leaves a take of its own`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.deck.handle(.press(.record, at: rig.clock.now()))
        rig.card.unplug()
        rig.turn()
        rig.run(.milliseconds(1000))
        rig.card.plugIn()
        rig.deck.rescan()
        rig.run(.milliseconds(1000))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.parts.map(\.frames) == [8 * 950] as [Int64])
        #expect(sidecar.parts[0].firstFrame.count == 8 * 1050)
        let files = try FileManager.default.subpathsOfDirectory(atPath: rig.directory)
        #expect(files.filter { $0.contains(".wav") } == ["2026-11-21/\(sidecar.parts[0].file)"])
    }
}
