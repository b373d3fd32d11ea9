import Filters
import Foundation
import Ring
import Takes
import TestBench
import Testing
import Workers

@testable import Recording

/// A long take that is cut into several.
@Suite struct NextTakeTests {
    @Test(arguments: TailTests.Case.all) func `takes that follow one another are bit for bit one take`(
        test: TailTests.Case
    ) throws {
        func record(cuts: [Int]) throws -> (Data, twin: Data, [Sidecar]) {
            let studio = try test.studio()
            studio.run(.seconds(1))
            studio.begin()
            var done = 0
            for cut in cuts + [3100] {
                studio.run(.milliseconds(cut - done))
                done = cut
                guard cut < 3100 else { break }
                studio.writer.post(.mark(Mark(at: studio.clock.now() - .milliseconds(1), note: "before \(cut)")))
                studio.writer.post(.next(at: studio.clock.now(), pressedWall: studio.clock.wallTime()))
                studio.writer.post(.mark(Mark(at: studio.clock.now() + .milliseconds(1), note: "after \(cut)")))
            }
            studio.end()
            studio.run(.milliseconds(500))
            let sidecars = studio.finished
            var (sound, twin) = (Data(), Data())
            for sidecar in sidecars {
                sound += try studio.sound(sidecar)
                if test.keepsTwin { twin += try studio.sound(sidecar, isUnfiltered: true) }
            }
            return (sound, twin: twin, sidecars)
        }
        let (sound, twin, _) = try record(cuts: [])
        let (pieces, pieceTwin, sidecars) = try record(cuts: [777, 2003])
        #expect(pieces == sound)
        #expect(pieceTwin == twin)
        #expect(sidecars.map(\.number) == [1, 2, 3])
        #expect(sidecars.map(\.endedBy) == [.next, .next, .stop])
        let frames: [Int64] = [37296, 58848, 52656]
        #expect(sidecars.map(\.frames) == frames)
        #expect(sidecars.allSatisfy { $0.preRollFrames == 0 && $0.parts.count == 1 && $0.filter.count == 1 })
        #expect(sidecars[1].filter[0].lowPassHz == test.cutoffHz && sidecars[1].filter[0].atFrame == .first)
        let notes: [[String?]] = [["before 777"], ["after 777", "before 2003"], ["after 2003"]]
        #expect(sidecars.map { $0.markers.map(\.note) } == notes)
        let places = [TakeFrame(48), TakeFrame(58800)]
        #expect(sidecars[1].markers.map(\.atFrame) == places)
        for (earlier, later) in zip(sidecars, sidecars.dropFirst()) {
            let length = Int64(earlier.frames) * 1_000_000 / 48
            #expect(later.startedMonotonicNs - earlier.startedMonotonicNs == length)
        }
        #expect(sidecars.allSatisfy { !$0.clockMap.isEmpty && $0.clockMap[0].atFrame <= TakeFrame($0.frames) })
    }

    /// Frame numbers refer to the take in which they were requested.
    @Test func `a region goes on in the next take at the same sound`() throws {
        let studio = try TailTests.Case(format: .s16, cutoffHz: nil, keepsTwin: false).studio()
        studio.run(.seconds(1))
        studio.begin()
        studio.run(.seconds(1))
        let begun = studio.outcomes.compactMap { if case .began(let name) = $0 { name } else { nil } }
        let first = try #require(begun.first)
        func region(_ place: Mark.Place, end: Int64, _ note: String) -> Mark {
            var content = Sidecar.Marker.Content(note: note)
            content.endFrame = TakeFrame(end)
            return Mark(place, content, of: first)
        }
        studio.writer.post(.next(at: studio.clock.now(), pressedWall: studio.clock.wallTime()))
        // Both were requested before the deck knew the next take.
        studio.writer.post(.mark(region(.frame(TakeFrame(48_100)), end: 48_400, "frame")))
        studio.writer.post(.mark(region(.instant(studio.clock.now() + .milliseconds(5)), end: 48_500, "instant")))
        studio.writer.post(.mark(region(.frame(TakeFrame(47_000)), end: 48_300, "before")))
        studio.run(.seconds(1))
        studio.end()
        studio.run(.milliseconds(500))
        let (length, sidecar) = (try #require(studio.finished.first).frames, try #require(studio.finished.last))
        let ends = sidecar.markers.reduce(into: [String: Int64]()) { $0[$1.note ?? ""] = $1.endFrame?.count }
        #expect(ends == ["frame": 48_400 - length, "instant": 48_500 - length])
        let begins = sidecar.markers.reduce(into: [String: Int64]()) { $0[$1.note ?? ""] = $1.atFrame.count }
        #expect(begins["frame"] == 48_100 - length)
        // A region ends with its take.
        let marker = try #require(studio.finished.first?.markers.first)
        #expect(marker.note == "before" && marker.atFrame == TakeFrame(47_000) && marker.endFrame == TakeFrame(length))
    }

    @Test func `a take of 2 s knows the card's drift from stamps before it, but from none before an overrun`() throws {
        let studio = try TailTests.Case(format: .s16, cutoffHz: nil, keepsTwin: false).studio()
        func record() {
            studio.begin()
            studio.run(.seconds(2))
            studio.writer.post(.next(at: studio.clock.now(), pressedWall: studio.clock.wallTime()))
            studio.run(.seconds(2))
            studio.end()
            studio.run(.milliseconds(500))
        }
        record()
        studio.run(.seconds(20))
        record()
        studio.ring.stamp(Stamp(position: studio.ring.position, instant: studio.clock.now(), kind: .xrun, lost: 0))
        studio.run(.milliseconds(500))
        record()
        let sidecars = studio.finished
        #expect(sidecars.map(\.clockDriftPPM) == [nil, nil, 0, 0, nil, nil])
        #expect(sidecars.allSatisfy { $0.clockMap.count == 2 && $0.clockMap[0].atFrame >= .first })
    }

    @Test func `a stop that was ordered before the cut is reached counts after it`() throws {
        let studio = try TailTests.Case(format: .s16, cutoffHz: nil, keepsTwin: false).studio()
        studio.run(.seconds(1))
        studio.begin()
        studio.run(.milliseconds(500))
        let cut = studio.clock.now()
        studio.writer.post(.next(at: cut, pressedWall: studio.clock.wallTime()))
        studio.writer.post(.end(at: cut + .milliseconds(130), .stop, keepsTail: false))
        studio.run(.seconds(1))
        #expect(studio.finished.map(\.frames) == [24000, 48 * 130] as [Int64])
        #expect(studio.finished.map(\.endedBy) == [.next, .stop])
    }

    @Test func `a cut that is not reached when the card goes away is none, and the take goes on with the card`() throws
    {
        let studio = try TailTests.Case(format: .s16, cutoffHz: nil, keepsTwin: false).studio()
        studio.run(.seconds(1))
        studio.begin()
        studio.run(.seconds(1))
        studio.writer.post(.next(at: studio.clock.now(), pressedWall: studio.clock.wallTime()))
        studio.writer.post(.suspend)
        studio.run(.milliseconds(300), isCardAway: true)
        // A cut that is ordered meanwhile is cancelled as well.
        studio.writer.post(.next(at: studio.clock.now(), pressedWall: studio.clock.wallTime()))
        studio.run(.milliseconds(200), isCardAway: true)
        #expect(studio.finished == [])
        let opened = studio.reopen()
        studio.writer.post(.resume(ResumeOrder(ring: studio.ring, opened: opened, filter: studio.filter)))
        studio.run(.seconds(1))
        studio.end()
        studio.run(.milliseconds(500))
        #expect(studio.finished.map(\.endedBy) == [.stop])
        #expect(studio.finished.first?.parts.map(\.frames) == [48000, 48000])
    }

    @Test func `a take that follows is dated by the clock that was set during the one before`() throws {
        let studio = try TailTests.Case(format: .s16, cutoffHz: nil, keepsTwin: false).studio()
        studio.run(.seconds(1))
        studio.begin(origin: .unset)
        studio.run(.seconds(1))
        studio.writer.post(.date(TrueStart(bootID: "boot", offset: studio.clock.offset(), origin: .ntp)))
        studio.run(.seconds(1))
        studio.writer.post(.next(at: studio.clock.now(), pressedWall: studio.clock.wallTime()))
        studio.run(.seconds(2))
        studio.end()
        studio.run(.milliseconds(500))
        #expect(studio.finished.map(\.clock) == [.unset, .ntp])
        #expect(studio.finished.last?.clockMap.allSatisfy { $0.utc != nil } == true)
    }

    @Test func `a take of a card that was opened just now, after a while in the same ring, begins at the press`() throws
    {
        let studio = try TailTests.Case(format: .s16, cutoffHz: nil, keepsTwin: false).studio()
        studio.run(.seconds(1))
        studio.clock.advance(by: .seconds(10))
        _ = studio.reopen(isStarted: false)
        studio.begin()
        studio.start()
        studio.run(.seconds(2))
        studio.end()
        studio.run(.milliseconds(500))
        #expect(studio.finished.map(\.frames) == [96000])
    }

    @Test func `a card that comes back in the same ring goes on in another part`() throws {
        let studio = try TailTests.Case(format: .s16, cutoffHz: nil, keepsTwin: false).studio()
        studio.run(.seconds(1))
        studio.begin()
        studio.run(.seconds(1))
        // The writer is late: both orders wait, and the ring holds frames of both openings.
        studio.clock.advance(by: .milliseconds(300))
        let opened = studio.reopen()
        studio.writer.post(.suspend)
        studio.writer.post(.resume(ResumeOrder(ring: studio.ring, opened: opened, filter: studio.filter)))
        studio.clock.advance(by: .milliseconds(400))
        studio.deliver()
        studio.run(.milliseconds(600))
        studio.end()
        studio.run(.milliseconds(500))
        let sidecar = try #require(studio.finished.first)
        #expect(sidecar.parts.map(\.frames) == [48000, 48000])
        #expect(sidecar.gaps == [Sidecar.Gap(atFrame: TakeFrame(48000), frames: 48 * 300, cause: .cardLost)])
        let whole = try studio.sound(sidecar)
        #expect(whole.count == 4 * 96000)
    }
}
