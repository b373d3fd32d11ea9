import Files
import Foundation
import TakeFiles
import Takes
import TestBench
import Testing
import Workers

@testable import Recording

/// The gain changes that the writer records, at 48 frames per millisecond.
@Suite struct GainChangeTests {
    private let studio: Studio

    init() throws {
        studio = try TailTests.Case(format: .s16, cutoffHz: nil, keepsTwin: false).studio()
        studio.gain = CardGain(gainDB: 0, agc: true)
        studio.run(.seconds(1))
    }

    private func set(_ gainDB: Double, agc: Bool? = true, ago: Duration = .zero) {
        studio.writer.post(.gain(CardGain(gainDB: gainDB, agc: agc), at: studio.clock.now() - ago))
    }

    private func change(_ frame: Int64, _ gainDB: Double, agc: Bool? = true) -> Sidecar.GainChange {
        Sidecar.GainChange(atFrame: TakeFrame(frame), gainDB: gainDB, agc: agc)
    }

    private func end(keepsTail: Bool = false) {
        studio.end(keepsTail: keepsTail)
        studio.run(.milliseconds(500))
    }

    @Test func `each change is listed with the frame that was sampled when it was confirmed`() throws {
        studio.begin()
        studio.run(.milliseconds(1000))
        set(6)
        set(6)
        studio.run(.milliseconds(500))
        set(12, agc: false, ago: .milliseconds(10))
        studio.run(.milliseconds(500))
        end()
        let sidecar = try #require(studio.finished.first)
        #expect(sidecar.gain == [change(48_000, 6), change(71_520, 12, agc: false)])
        #expect((sidecar.gainDB, sidecar.agc) == (0, true))
    }

    @Test func `a take without a change has an empty list`() throws {
        studio.begin()
        studio.run(.seconds(1))
        set(0)
        studio.run(.seconds(1))
        end()
        let sidecar = try #require(studio.finished.first)
        #expect(sidecar.gain == [])
        let name = try #require(try studio.directory.takes().first)
        let bytes = try FileSystem().contents(studio.directory.sidecarPath(of: name))
        #expect(String(decoding: bytes, as: UTF8.self).contains("\"gain\" : [\n\n  ]"))
    }

    @Test func `a change is in the draft on the disk after the next sync`() throws {
        studio.begin()
        studio.run(.milliseconds(500))
        set(6)
        studio.run(.milliseconds(1500))
        let draft = try #require(try studio.fileNames().first { $0.hasSuffix(".json.part") })
        let bytes = try FileSystem().contents("\(studio.path)/\(draft)")
        #expect(try SidecarFile.sidecar(bytes, path: draft).gain == [change(24_000, 6)])
    }

    @Test func `a change from before the first frame holds from that on, one from after the last is left out`() throws {
        studio.begin()
        set(3, ago: .milliseconds(200))
        studio.run(.seconds(1))
        studio.writer.post(.end(at: studio.clock.now(), .stop, keepsTail: false))
        set(9, ago: .milliseconds(-10))
        studio.run(.milliseconds(500))
        let sidecar = try #require(studio.finished.first)
        #expect(sidecar.gain == [change(0, 3)])
    }

    @Test func `a change beside a cut belongs to the take that it lies in, and the next one begins with it`() throws {
        studio.begin()
        studio.run(.milliseconds(1000))
        set(6, ago: .milliseconds(1))
        studio.writer.post(.next(at: studio.clock.now(), pressedWall: studio.clock.wallTime()))
        set(12, ago: .milliseconds(-1))
        studio.run(.milliseconds(1000))
        end()
        let sidecars = studio.finished
        #expect(sidecars.map(\.gain) == [[change(47_952, 6)], [change(48, 12)]])
        #expect(sidecars.map(\.gainDB) == [0, 6])
        #expect(sidecars.map(\.agc) == [true, true])
    }

    @Test func `a change in the tail is one of the take that goes on with it`() throws {
        studio.begin()
        studio.run(.milliseconds(1000))
        end(keepsTail: true)
        set(6)
        studio.run(.milliseconds(300))
        #expect(studio.finished.first?.gain == [])
        studio.writer.post(.rejoin)
        studio.run(.milliseconds(300))
        end()
        #expect(studio.finished.last?.gain == [change(48 * 1500, 6)])
    }

    @Test func `a card that comes back with another gain is noted from its first frame on`() throws {
        studio.begin()
        studio.run(.milliseconds(1000))
        set(6)
        studio.run(.milliseconds(200))
        studio.writer.post(.suspend)
        studio.run(.milliseconds(300), isCardAway: true)
        set(7)
        studio.turn()
        let opened = studio.reopen()
        studio.writer.post(
            .resume(
                ResumeOrder(
                    ring: studio.ring, opened: opened, filter: studio.filter, gain: CardGain(gainDB: -3, agc: nil))))
        studio.run(.milliseconds(1000))
        end()
        let sidecar = try #require(studio.finished.first)
        let second = try #require(sidecar.parts.last)
        #expect(sidecar.parts.count == 2)
        #expect(sidecar.gain == [change(48_000, 6), change(second.firstFrame.count, -3, agc: nil)])
    }
}
