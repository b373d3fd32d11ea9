import Files
import TakeFiles
import Takes
import TestBench
import Testing
import Workers

@testable import Recording

/// The channels of a take that the writer records in its sidecar.
@Suite struct ChosenChannelsTests {
    private let studio: Studio

    init() throws {
        studio = try TailTests.Case(format: .s16, cutoffHz: nil, keepsTwin: false).studio()
        studio.run(.seconds(1))
    }

    @Test func `a take of some channels has their numbers from its draft on, and so has the next one`() throws {
        studio.layout = ChannelLayout(keeping: [3, 1], of: 4)
        studio.begin()
        studio.run(.seconds(2))
        let draft = try #require(try studio.fileNames().first { $0.hasSuffix(".json.part") })
        let bytes = try FileSystem().contents("\(studio.path)/\(draft)")
        #expect(try SidecarFile.sidecar(bytes, path: draft).channelsOfCard == [3, 1])
        studio.writer.post(.next(at: studio.clock.now(), pressedWall: studio.clock.wallTime()))
        studio.run(.seconds(1))
        studio.end()
        studio.run(.milliseconds(500))
        #expect(studio.finished.map(\.channelsOfCard) == [[3, 1], [3, 1]])
    }

    @Test func `a take of all channels has no such key`() throws {
        studio.begin()
        studio.run(.seconds(1))
        studio.end()
        studio.run(.milliseconds(500))
        let name = try #require(try studio.directory.takes().first)
        let bytes = try FileSystem().contents(studio.directory.sidecarPath(of: name))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("channels_of_card"))
    }
}
