import Panel
import Takes
import Testing
import Transport

@testable import Deck

/// A card that loses frames without saying so: only the clock tells. At 8000 Hz a millisecond is 8 frames.
@Suite struct SilentLossTests {
    @Test func `frames that the card lost without a word are silent in the file, listed, and the timeline holds`()
        throws
    {
        let rig = try Rig()
        rig.run(.seconds(12))
        rig.press(.record)
        for _ in 0..<5 {
            rig.run(.seconds(3))
            rig.card.drop(40)
        }
        rig.run(.seconds(3))
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.gaps.count == 5)
        #expect(Set(sidecar.gaps.map(\.cause)) == [.driver])
        // To 0.2 ms each.
        #expect(sidecar.gaps.allSatisfy { abs($0.frames - 40) <= 2 })
        #expect(abs(sidecar.frames - 8 * 19_030) <= 2)
        #expect(sidecar.markers.allSatisfy { abs($0.atFrame - 8 * 18_015) <= 2 })
        for (number, gap) in sidecar.gaps.enumerated() {
            // Noticed within 2 s.
            let lost = Int64(number + 1) * 24_000
            #expect(gap.atFrame > lost && gap.atFrame < lost + 16_000)
        }
        let samples = try rig.samples(sidecar.parts[0].file, of: sidecar)
        for gap in sidecar.gaps {
            let isSilent = samples[Int(gap.atFrame)..<Int(gap.atFrame + gap.frames)].allSatisfy { $0 == 0 }
            #expect(isSilent)
        }
    }

    @Test(arguments: [50, 250, 450, 650, 950, 1250, 1850, 2450])
    func `a take is as long as it lasted, however long before it the card lost frames`(milliseconds: Int) throws {
        let rig = try Rig()
        rig.run(.seconds(12))
        rig.card.drop(400)
        rig.run(.milliseconds(milliseconds))
        rig.press(.record)
        rig.run(.seconds(5))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(abs(sidecar.frames - 8 * 5015) <= 2, "\(sidecar.gaps)")
        // What was lost long before it is none of its matter.
        #expect(sidecar.gaps.count == (milliseconds > 600 ? 0 : 1))
    }

    @Test(arguments: [1, 2, 3], [8, 16, 24])
    func `what was lost before a take is not filled into it, however late it is found`(
        milliseconds: Int, frames: Int
    ) throws {
        let rig = try Rig()
        // Stamps are late evenly up to that, by the golden ratio.
        var number = 0
        rig.card.lateness = {
            number += 1
            return .microseconds(number * 618 % 1000 * milliseconds)
        }
        rig.run(.seconds(60))
        rig.card.drop(Int64(frames))
        rig.run(.milliseconds(650))
        rig.press(.record)
        rig.run(.seconds(60))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.gaps == [])
        #expect(abs(sidecar.frames - 8 * 60_015) <= 8 * Int64(milliseconds))
    }

    @Test(arguments: [-1450, -950, -650, -450, -50, 50, 250, 950, 1450, 2050])
    func `a take is as long as it lasted, whenever around its end the card lost frames`(milliseconds: Int) throws {
        let rig = try Rig()
        rig.run(.seconds(12))
        rig.press(.record)
        rig.run(.seconds(3))
        // The writer hangs meanwhile, so that it hears of what came after the end.
        func listen(_ duration: Int) {
            for _ in 0..<max(0, duration / 50) {
                rig.clock.advance(by: .milliseconds(50))
                rig.card.deliver()
            }
        }
        listen(2000 + min(0, milliseconds))
        if milliseconds < 0 { rig.card.drop(400) }
        listen(max(0, -milliseconds))
        rig.deck.handle(.press(.stop, at: rig.clock.now()))
        listen(max(0, milliseconds))
        if milliseconds > 0 { rig.card.drop(400) }
        listen(4000)
        rig.run(.milliseconds(500))
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(abs(sidecar.frames - 8 * 5015) <= 2, "\(sidecar.gaps)")
        if milliseconds > 0 { #expect(sidecar.gaps == []) }
    }

    @Test(arguments: [-150.0, 80, 200]) func `an honest crystal is followed, and told`(ppm: Double) throws {
        let rig = try Rig()
        rig.card.slowness = -ppm / 1e6
        rig.run(.seconds(60), step: .milliseconds(100))
        rig.press(.record)
        rig.run(.seconds(60), step: .milliseconds(100))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.gaps == [])
        let told = try #require(sidecar.clockDriftPPM)
        #expect(abs(told - ppm) < 20)
        #expect(rig.log.messages.filter { $0.contains("ppm") } == [])
    }

    @Test func `a card that is off by more than a crystal can be is told of once, and not filled`() throws {
        let rig = try Rig()
        rig.card.slowness = 0.001
        rig.run(.seconds(60), step: .milliseconds(100))
        rig.press(.record)
        rig.run(.seconds(30), step: .milliseconds(100))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.gaps == [])
        #expect(rig.log.messages.filter { $0.contains("off by") }.count == 1)
    }

    @Test func `a short take is told what was learnt of the crystal before it`() throws {
        let rig = try Rig()
        rig.run(.seconds(60), step: .milliseconds(100))
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.clockDriftPPM.map { abs($0) < 20 } ?? false)
    }
}

/// What becomes of takes when the date is set.
@Suite struct DatingTests {
    @Test func `a jump of ten years during a take changes nothing but when it is said to have begun`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.settle()
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.seconds(1))
        let tenYears = Duration.seconds(315_532_800)
        rig.clock.jump(by: tenYears)
        rig.deck.clockChanged()
        rig.run(.seconds(1))
        rig.press(.record)
        rig.clock.jump(by: .zero - tenYears - tenYears)
        rig.deck.clockChanged()
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        rig.turn()
        let sidecars = try rig.sidecars()
        #expect(sidecars.map(\.take) == ["heron07-0001-061812Z", "heron07-0002-061813Z"])
        #expect(sidecars[1].frames == 8 * 3030)
        #expect(sidecars[1].markers.map(\.atFrame) == [8 * 2015])
        let samples = try rig.samples(sidecars[1].parts[0].file, of: sidecars[1])
        let first = Int(sidecars[1].startedMonotonicNs - 100_000_000_000) / 125_000
        #expect(difference(samples, first..<first + samples.count) == nil)
        for sidecar in sidecars {
            let started = try #require(WallTime(iso8601: sidecar.started))
            #expect(sidecar.startedCorrected == (started - tenYears).iso8601)
        }
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().last?.number == 3)
        #expect(try rig.sidecars().last?.startedCorrected == nil)
    }
}
