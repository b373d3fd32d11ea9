import TakePlaces
import Takes
import TestBench
import Testing
import Workers

@testable import Recording
@testable import TakeFiles

struct AwayMarkerTests {
    private static let mono = StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16)

    /// A take of 2 s whose card is then lost, and which is marked at `marks` without the card.
    private func studio(marks: [Duration], thenAway: Duration) throws -> (Studio, started: Instant) {
        let studio = try Studio(Self.mono)
        studio.run(.seconds(2))
        studio.begin()
        let started = studio.clock.now()
        studio.run(.seconds(2))
        studio.writer.post(.suspend)
        studio.run(.milliseconds(200), isCardAway: true)
        for (index, wait) in marks.enumerated() {
            studio.run(wait, isCardAway: true)
            studio.writer.post(.mark(Mark(at: studio.clock.now(), note: "\(index)")))
        }
        studio.run(thenAway, isCardAway: true)
        return (studio, started)
    }

    private func frame(_ instant: Instant, _ started: Instant) -> Int64 {
        Int64(((instant - started).inSeconds * 8000).rounded())
    }

    @Test(arguments: [[3000], [1, 1000, 60_000], [0, 0, 7]])
    func `a marker without sound lies at its own time, in the jump between two parts`(waits: [Int]) throws {
        let marks = waits.map { Duration.milliseconds($0) }
        let (studio, started) = try studio(marks: marks, thenAway: .seconds(2))
        let opened = studio.reopen()
        studio.writer.post(.resume(ResumeOrder(ring: studio.ring, opened: opened, filter: studio.filter)))
        studio.run(.seconds(2))
        studio.writer.post(.mark(Mark(at: studio.clock.now(), note: "back")))
        studio.run(.seconds(1))
        studio.end()
        studio.run(.milliseconds(500))
        let sidecar = try #require(studio.finished.last)
        #expect(sidecar.parts.count == 2)
        let end = sidecar.parts[0].frames
        let second = sidecar.parts[1].firstFrame.count
        var at = started + .seconds(2) + .milliseconds(200)
        for (index, mark) in marks.enumerated() {
            at = at + mark
            let found = sidecar.markers[index].atFrame.count
            #expect(abs(found - frame(at, started)) <= 1)
            #expect(found >= end && found < second)
        }
        #expect(sidecar.markers.last?.note == "back")
        #expect((sidecar.markers.last?.atFrame.count ?? 0) > second)
        #expect(sidecar.gaps == [Sidecar.Gap(atFrame: TakeFrame(end), frames: second - end, cause: .cardLost)])
        // The marker is in no file, and the other markers keep their places.
        let cues = sidecar.parts.flatMap { part in
            sidecar.cues(firstFrame: part.firstFrame, frames: part.frames, rateHz: part.rateHz, isLast: false)
        }
        #expect(cues.map(\.label) == ["back"])
    }

    @Test func `where the card does not come back, it lies at the end of the take`() throws {
        let (studio, _) = try studio(marks: [.seconds(3)], thenAway: .seconds(1))
        studio.end()
        studio.run(.milliseconds(500), isCardAway: true)
        let sidecar = try #require(studio.finished.last)
        #expect(sidecar.markers == [Sidecar.Marker(atFrame: TakeFrame(sidecar.frames), note: "0")])
        #expect(sidecar.gaps == [])
    }

    @Test func `it outlives a power cut while the card is away`() throws {
        let (studio, _) = try studio(marks: [.seconds(3)], thenAway: .seconds(2))
        let name = try #require(try studio.directory.leftovers().last)
        let recovery = TakeRecovery(of: name, in: studio.directory, bootID: "another")
        while try recovery.step() == nil {}
        let sidecar = try studio.directory.sidecar(of: name)
        #expect(sidecar.markers == [Sidecar.Marker(atFrame: TakeFrame(sidecar.frames), note: "0")])
        #expect(sidecar.gaps == [])
    }

    @Test func `a marker that is dated back to before the card went lies where it was sampled`() throws {
        let (studio, started) = try studio(marks: [], thenAway: .seconds(3))
        let opened = studio.reopen()
        studio.writer.post(.resume(ResumeOrder(ring: studio.ring, opened: opened, filter: studio.filter)))
        studio.run(.seconds(2))
        for instant in [started + .seconds(1), started + .seconds(3)] { studio.writer.post(.mark(Mark(at: instant))) }
        studio.writer.post(.mark(Mark(.frame(TakeFrame(4000)), Sidecar.Marker.Content())))
        studio.run(.seconds(1))
        studio.end()
        studio.run(.milliseconds(500))
        let sidecar = try #require(studio.finished.last)
        for (marker, expected) in zip(sidecar.markers, [8000, 24_000, 4000] as [Int64]) {
            #expect(abs(marker.atFrame.count - expected) <= 1)
        }
        #expect(sidecar.markers.count == 3)
    }

    @Test func `a marker at a frame that is not written yet waits for it`() throws {
        let studio = try Studio(Self.mono)
        studio.run(.seconds(2))
        studio.begin()
        studio.run(.seconds(1))
        for frame in [8100, 100, 400_000] as [Int64] {
            studio.writer.post(.mark(Mark(.frame(TakeFrame(frame)), Sidecar.Marker.Content(note: "\(frame)"))))
        }
        studio.run(.seconds(1))
        studio.end()
        studio.run(.milliseconds(500))
        let sidecar = try #require(studio.finished.last)
        #expect(
            sidecar.markers == [
                Sidecar.Marker(atFrame: TakeFrame(100), note: "100"),
                Sidecar.Marker(atFrame: TakeFrame(8100), note: "8100"),
                Sidecar.Marker(atFrame: TakeFrame(sidecar.frames), note: "400000"),
            ])
    }
}
