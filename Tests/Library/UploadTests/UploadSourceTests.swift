import Foundation
import StoreTrials
import Takes
import TestBench
import Testing

@testable import Upload

struct UploadSourceTests {
    let trial: StoreTrial
    init() throws { trial = try StoreTrial() }

    @Test("what is read to be sent is hashed on the way, and the rest when the hash is asked for")
    func hash() async throws {
        let path = try trial.file("a", byteCount: 3_000_001)
        let whole = try await trial.source(path)
        let expected = try await whole.sha256()
        let read = try await trial.source(path)
        for offset in stride(from: 0, to: 2_000_000, by: 100_000) {
            #expect(try await read.piece(at: Int64(offset), count: 100_000).count == 100_000)
        }
        #expect(try await read.sha256() == expected)
        let known = try await UploadSource(path: path, sha256: String(repeating: "0", count: 64), reader: trial.reader)
        _ = try await known.piece(at: 0, count: 3_000_001)
        await trial.expectProblem(.unreadable) { _ = try await known.sha256() }
    }

    @Test("below a low limit, a piece is what passes in a second", arguments: [1, 1000, 100_000])
    func limit(kilobitsPerSecond: Int) async throws {
        let source = UploadSource(
            [UInt8](repeating: 1, count: 100_000), called: "a", reader: trial.reader,
            throttle: Throttle(kilobitsPerSecond: kilobitsPerSecond))
        #expect(try await source.piece(at: 0, count: 65_536).count == min(65_536, 125 * kilobitsPerSecond))
    }

    @Test("what passed the limit an hour ago delays nothing", .timeLimit(.minutes(5)))
    func laterPieces() async throws {
        let clock = TestClock()
        let throttle = Throttle(kilobitsPerSecond: 1, clock: clock)
        try await throttle.pass(125 * 3600)
        clock.advance(by: .seconds(3600))
        try await throttle.pass(1)
    }

    @Test("a file that becomes shorter while it is sent is reported")
    func shorter() async throws {
        let path = try trial.file("a", byteCount: 1000)
        let source = try await trial.source(path)
        try Data(count: 10).write(to: URL(filePath: path))
        await trial.expectProblem(.unreadable) { _ = try await source.piece(at: 0, count: 1000) }
        await trial.expectProblem(.unreadable) { _ = try await trial.source(path + ".none") }
    }
}
