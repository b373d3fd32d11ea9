import Files
import Foundation
import Panel
import TakeFiles
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// The dates of takes when the clock is set.
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
        rig.clock.set(by: tenYears)
        rig.deck.clockChanged()
        rig.run(.seconds(1))
        rig.press(.record)
        rig.clock.set(by: .zero - tenYears - tenYears)
        rig.deck.clockChanged()
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        rig.turn()
        let sidecars = try rig.sidecars()
        #expect(sidecars.map(\.take) == ["heron07-0001_20261121_061812", "heron07-0002_20261121_061813"])
        #expect(sidecars[1].frames == 8 * 3030)
        #expect(sidecars[1].markers.map(\.atFrame.count) == [8 * 2015] as [Int64])
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

    @Test func `a take that begins before the clock is set says no date, and later ones are not judged by it`() throws {
        let rig = try Rig()
        func record() throws -> Sidecar {
            rig.run(.milliseconds(1000))
            rig.press(.record)
            rig.run(.milliseconds(985))
            rig.press(.stop)
            rig.settle()
            return try #require(try rig.sidecars().last)
        }
        _ = try record()
        rig.clockOrigin = .unset
        let sidecar = try record()
        #expect(sidecar.take == "heron07-0002_unset" && sidecar.clock == .unset)
        let path = "\(rig.directory)/unset/heron07-0002_unset"
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(rig.directory)/unset").sorted()
        #expect(files == ["dat", "json", "wav"].map { "heron07-0002_unset.\($0)" })
        // The chunk bext begins at byte 20. From its byte 320 on it holds the date, the time, and the frames since
        // midnight.
        let head = try FileSystem().contents("\(path).wav").prefix(WAVHeader.byteCount)
        #expect(head[12..<16].elementsEqual("bext".utf8))
        #expect(head[340..<366].allSatisfy { $0 == 0 })
        _ = rig.deck.clockOrigin
        #expect(rig.judgedBy == "2026-11-21")
        rig.clockOrigin = .ntp
        #expect(try record().take.hasPrefix("heron07-0003_20261121_0618"))
    }
}
