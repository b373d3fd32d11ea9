import Filters
import Foundation
import Ring
import TakeFiles
import TakePlaces
import Takes
import TestBench
import Testing
import Workers

@testable import Recording

/// A stop and its consequences: the sound continues into a tail, and the take may continue with it.
@Suite struct TailTests {
    /// A format, whether the filter is on, and whether the twin is kept.
    struct Case: CustomStringConvertible {
        var format: SampleFormat
        var cutoffHz: Double?
        var keepsTwin: Bool
        var description: String { "\(format.rawValue), \(cutoffHz ?? 0) Hz\(keepsTwin ? ", with its twin" : "")" }

        static let all = [SampleFormat.s16, .s24, .float].flatMap { format in
            [nil, 3000.0].flatMap { cutoff in
                [false, true].map { Case(format: format, cutoffHz: cutoff, keepsTwin: $0) }
            }
        }

        func studio() throws -> Studio {
            let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: format)
            let studio = try Studio(format, cutoffHz: cutoffHz)
            studio.keepsTwin = keepsTwin
            return studio
        }
    }

    /// A take that was never stopped: from 1 s to 4.1 s, with markers at 1.5 s and 3.9 s.
    private func whole(_ test: Case) throws -> (Data, twin: Data?, Sidecar) {
        let studio = try test.studio()
        studio.run(.seconds(1))
        studio.begin()
        studio.run(.milliseconds(500))
        studio.writer.post(.mark(Mark(at: studio.clock.now(), note: "a")))
        studio.run(.milliseconds(2400))
        studio.writer.post(.mark(Mark(at: studio.clock.now(), note: "b")))
        studio.run(.milliseconds(200))
        studio.end()
        studio.run(.milliseconds(500))
        let sidecar = try #require(studio.finished.first)
        return (
            try studio.sound(sidecar), twin: test.keepsTwin ? try studio.sound(sidecar, isUnfiltered: true) : nil,
            sidecar
        )
    }

    @Test(arguments: Case.all) func `a take that is rejoined is bit for bit one that was never stopped`(test: Case)
        throws
    {
        let (sound, twin, reference) = try whole(test)
        let studio = try test.studio()
        studio.run(.seconds(1))
        studio.begin()
        studio.run(.milliseconds(500))
        studio.writer.post(.mark(Mark(at: studio.clock.now(), note: "a")))
        studio.run(.milliseconds(733))
        studio.end(keepsTail: true)
        studio.run(.milliseconds(900))
        let stopped = try #require(studio.finished.first)
        #expect(stopped.endedBy == .stop && stopped.revision == 1)
        studio.writer.post(.rejoin)
        studio.run(.milliseconds(767))
        studio.writer.post(.mark(Mark(at: studio.clock.now(), note: "b")))
        studio.run(.milliseconds(200))
        studio.end()
        studio.run(.milliseconds(500))
        let sidecar = try #require(studio.finished.last)
        #expect(studio.finished.count == 2)
        #expect(sidecar.revision == 2 && sidecar.take == reference.take)
        #expect(sidecar.parts.count == 2)
        #expect(sidecar.frames == reference.frames)
        #expect(sidecar.parts[1].firstFrame == TakeFrame(sidecar.parts[0].frames))
        #expect(sidecar.markers == reference.markers)
        // The order of summation of the squares differs.
        for (found, due) in zip(sidecar.levels, reference.levels) {
            let (rms, dueRMS) = (try #require(found.rmsDBFS), try #require(due.rmsDBFS))
            #expect(found.peakDBFS == due.peakDBFS && abs(rms - dueRMS) < 1e-9)
            #expect(found.clippedFrames == due.clippedFrames)
        }
        #expect(sidecar.gaps == [])
        #expect(try studio.sound(sidecar) == sound)
        if let twin { #expect(try studio.sound(sidecar, isUnfiltered: true) == twin) }
    }

    @Test func `a take may be stopped and rejoined several times`() throws {
        let test = Case(format: .s16, cutoffHz: 3000, keepsTwin: false)
        let (sound, _, reference) = try whole(test)
        let studio = try test.studio()
        studio.run(.seconds(1))
        studio.begin()
        for milliseconds in [700, 411, 989] {
            studio.run(.milliseconds(milliseconds - 300))
            studio.end(keepsTail: true)
            studio.run(.milliseconds(300))
            studio.writer.post(.rejoin)
            studio.turn()
        }
        studio.run(.milliseconds(1000))
        studio.end()
        studio.run(.milliseconds(500))
        let sidecar = try #require(studio.finished.last)
        #expect(sidecar.revision == 4 && sidecar.parts.count == 4 && sidecar.frames == reference.frames)
        #expect(try studio.sound(sidecar) == sound)
    }

    @Test func `a tail that is dropped leaves nothing behind, and the finished take as it is`() throws {
        let studio = try Case(format: .s16, cutoffHz: nil, keepsTwin: true).studio()
        studio.run(.seconds(1))
        studio.begin()
        studio.run(.seconds(1))
        studio.end(keepsTail: true)
        studio.run(.seconds(2))
        #expect(try studio.fileNames().contains { $0.hasSuffix(".tail") })
        studio.writer.post(.dropTail)
        studio.run(.milliseconds(100))
        guard case .tailEnded(let name, .dropped)? = studio.outcomes.last else {
            Issue.record("not dropped: \(studio.outcomes.suffix(1))")
            return
        }
        let stem = "\(name.day)/\(name.stem)"
        #expect(try studio.fileNames() == [stem.file("-raw.wav"), "\(stem).json", "\(stem).wav"])
        #expect(try studio.directory.sidecar(of: name) == studio.finished[0])
        #expect(studio.ring.writableFrames() > 0)
    }

    @Test func `a card that goes while a tail is written ends the tail alone`() throws {
        let studio = try Case(format: .s16, cutoffHz: nil, keepsTwin: false).studio()
        studio.run(.seconds(1))
        studio.begin()
        studio.run(.seconds(1))
        studio.end(keepsTail: true)
        studio.run(.seconds(1))
        studio.writer.post(.suspend)
        studio.turn()
        guard case .tailEnded(_, .givenUp("the card is gone"))? = studio.outcomes.last else {
            Issue.record("not ended")
            return
        }
        studio.writer.post(.rejoin)
        studio.run(.seconds(1), isCardAway: true)
        #expect(studio.finished.count == 1)
        // The next take begins normally.
        let opened = studio.reopen()
        studio.run(.milliseconds(300))
        studio.begin()
        studio.run(.milliseconds(700))
        studio.end()
        studio.run(.milliseconds(500))
        #expect(studio.finished.count == 2 && studio.finished[1].frames == 48000 * 7 / 10)
        #expect(studio.ring.position > opened)
    }

    @Test func `a take that begins while a tail is written drops it, and holds its own frames`() throws {
        let studio = try Case(format: .s16, cutoffHz: nil, keepsTwin: false).studio()
        studio.run(.seconds(1))
        studio.begin()
        studio.run(.seconds(1))
        studio.end(keepsTail: true)
        studio.run(.milliseconds(500))
        studio.begin()
        // The writer hangs for the length of the ring. Nothing is overwritten.
        for _ in 0..<300 {
            studio.clock.advance(by: .milliseconds(50))
            if studio.ring.writableFrames() == 4800 { studio.deliver() }
        }
        studio.end()
        studio.run(.seconds(1), isCardAway: true)
        let sidecar = try #require(studio.finished.last)
        #expect(studio.finished.count == 2)
        #expect(sidecar.frames > 9 * 48000 && sidecar.gaps == [])
    }
}
