import Foundation
import Glibc
import Panel
import TakeFiles
import Takes
import Testing
import Transport

@testable import Deck

/// Another program touches the tail of a stopped take that may still be continued.
@Suite struct TailStrayTests {
    enum Deed: CaseIterable { case truncateToHalf, truncateToNothing, remove, rename, replace }

    /// A kit that recorded a take, and stopped it two seconds ago.
    private func stopped() throws -> (Rig, tail: String) {
        let rig = try Rig { $0.rules.rejoin = .seconds(60) }
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.settle()
        rig.run(.seconds(2))
        let tail = try FileManager.default.subpathsOfDirectory(atPath: rig.directory).first {
            $0.hasSuffix(".wav.tail")
        }
        return (rig, "\(rig.directory)/\(try #require(tail))")
    }

    private func carryOut(_ deed: Deed, _ tail: String) throws {
        switch deed {
        case .truncateToHalf: #expect(truncate(tail, 4096 + 16_001) == 0)
        case .truncateToNothing: #expect(truncate(tail, 0) == 0)
        case .remove: #expect(unlink(tail) == 0)
        case .rename: #expect(rename(tail, tail + ".away") == 0)
        case .replace:
            #expect(unlink(tail) == 0)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: tail))
        }
    }

    @Test(arguments: Deed.allCases, [Duration.zero, .milliseconds(1500), .seconds(5)])
    func `what it cut off is a gap and a fault, and the rest is where it was`(deed: Deed, since: Duration) throws {
        let (rig, tail) = try stopped()
        try carryOut(deed, tail)
        rig.run(since)
        rig.press(.record)
        rig.run(.milliseconds(985))
        #expect(rig.deck.state == .recording)
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing], "\(rig.log.messages)")
        rig.press(.stop)
        rig.settle()
        rig.run(.milliseconds(300))
        #expect(try rig.sidecars().count == 1)
        let sidecar = try #require(try rig.sidecars().last)
        var (next, missing) = (TakeFrame.first, Int64(0))
        for part in sidecar.parts {
            missing += part.firstFrame - next
            next = part.firstFrame + part.frames
            let samples = try rig.samples(part.file, of: sidecar)
            let first = 8000 + Int(part.firstFrame.count)
            #expect(difference(samples, first..<first + Int(part.frames)) == nil, "\(part.file)")
        }
        #expect(sidecar.gaps.reduce(0) { $0 + $1.frames } == missing)
        switch deed {
        case .truncateToHalf: #expect((6000...11_000).contains(missing), "\(missing)")
        case .truncateToNothing: #expect((14_000...19_000).contains(missing), "\(missing)")
        case .remove, .rename, .replace: #expect(missing == 0)
        }
        #expect(next.count > 8 * (3900 + since.components.seconds * 1000))
        let parts = try FileManager.default.subpathsOfDirectory(atPath: rig.directory).filter {
            $0.hasSuffix(".part")
        }
        #expect(parts == [])
    }

    @Test func `a file that has the name of a tail that is dropped stays`() throws {
        let (rig, tail) = try stopped()
        try carryOut(.replace, tail)
        rig.run(.seconds(65))
        let day = (tail as NSString).deletingLastPathComponent
        let kept = try FileManager.default.contentsOfDirectory(atPath: day).filter {
            (try? String(contentsOfFile: "\(day)/\($0)", encoding: .utf8)) == "mine"
        }
        #expect(kept.count == 1)
    }
}
