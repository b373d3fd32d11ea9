import Filters
import Foundation
import Takes
import Testing
import Workers

@testable import Recording

/// A filter that is changed around the beginning of a take.
@Suite struct FilterChangeTests {
    @Test func `a filter that is asked for before the first frame is found holds from that frame on`() throws {
        let studio = try TailTests.Case(format: .s16, cutoffHz: nil, keepsTwin: true).studio()
        let lowPass = try FilterDesign(lowPassHz: 3000, highPassHz: nil, slopeDBPerOctave: 24, rateHz: 48000)
        studio.run(.seconds(3))
        studio.begin()
        studio.writer.post(.filter(lowPass))
        studio.run(.seconds(2))
        studio.end()
        studio.run(.milliseconds(500))
        let sidecar = try #require(studio.finished.first)
        #expect(sidecar.frames == 96000)
        #expect(sidecar.filter.map(\.atFrame) == [.first, .first])
        #expect(sidecar.filter.last?.lowPassHz == 3000)
    }

    @Test func `a filter that is asked for while the card comes back is noted where it is back`() throws {
        let studio = try TailTests.Case(format: .s16, cutoffHz: nil, keepsTwin: false).studio()
        let lowPass = try FilterDesign(lowPassHz: 3000, highPassHz: nil, slopeDBPerOctave: 24, rateHz: 48000)
        studio.run(.seconds(1))
        studio.begin()
        studio.run(.seconds(1))
        studio.writer.post(.suspend)
        studio.run(.milliseconds(300), isCardAway: true)
        let opened = studio.reopen()
        studio.writer.post(.resume(ResumeOrder(ring: studio.ring, opened: opened, filter: studio.filter)))
        studio.turn()
        studio.writer.post(.filter(lowPass))
        studio.run(.seconds(1))
        studio.end()
        studio.run(.milliseconds(500))
        let sidecar = try #require(studio.finished.first)
        let second = try #require(sidecar.parts.last)
        #expect(sidecar.parts.count == 2)
        #expect(sidecar.filter.count == 2)
        #expect(sidecar.filter.last?.atFrame == second.firstFrame)
    }
}
