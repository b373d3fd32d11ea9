import Testing

@testable import Playback

@Suite struct PlayPositionTests {
    private let lengths = PlayLengths(parts: [
        .init(frames: 48000, rateHz: 48000), .init(frames: 88200, rateHz: 44100), .init(frames: 0, rateHz: 8000),
        .init(frames: 8000, rateHz: 8000),
    ])

    @Test(arguments: [
        (0, 0, 0.5, 0, 24000), (0, 24000, -0.5, 0, 0), (0, 24000, -9, 0, 0), (0, 24000, 1, 1, 22050),
        (1, 22050, -1, 0, 24000), (0, 0, 3, 3, 0), (3, 0, -0.25, 1, 77175), (1, 0, 99, 3, 8000),
        (3, 8000, 1, 3, 8000), (3, 8000, -4, 0, 0), (0, 0, 1, 1, 0),
    ])
    func `moving goes from part to part, and no further than either end`(
        part: Int, frame: Int, seconds: Double, toPart: Int, toFrame: Int
    ) {
        let moved = lengths.moved(from: PlayPosition(part: part, frame: Int64(frame)), by: seconds)
        #expect(moved == PlayPosition(part: toPart, frame: Int64(toFrame)))
    }

    @Test(arguments: [(8000, 48000), (44100, 96000), (48000, 8000), (96000, 44100)])
    func `moving across parts of other rates comes to an end, at most a frame beside`(first: Int, second: Int) {
        let lengths = PlayLengths(parts: [
            .init(frames: Int64(5 * first), rateHz: first), .init(frames: Int64(9 * second), rateHz: second),
        ])
        for offset in Int64(-9)...9 {
            let from = PlayPosition(part: 1, frame: Int64(5 * second) + offset)
            let back = lengths.moved(from: from, by: -5)
            let there = lengths.seconds(at: from) - lengths.seconds(at: back)
            #expect(abs(there - 5) <= 1 / Double(min(first, second)))
            let on = lengths.moved(from: back, by: 5)
            #expect(abs(lengths.seconds(at: on) - lengths.seconds(at: from)) <= 2 / Double(min(first, second)))
        }
        for frame in Int64(5 * first - 9)..<Int64(5 * first) {
            let on = lengths.moved(from: PlayPosition(frame: frame), by: 1 / Double(second))
            #expect(on >= PlayPosition(frame: frame))
        }
    }

    @Test func `seconds count all parts before`() {
        #expect(lengths.seconds(at: PlayPosition(part: 1, frame: 44100)) == 2)
        #expect(lengths.seconds(at: lengths.end) == 4)
    }

    @Test func `five seconds back from any frame are five seconds of frames`() {
        let long = PlayLengths(parts: [.init(frames: 1 << 40, rateHz: 44100)])
        for frame in stride(from: Int64(1 << 36), to: (1 << 36) + 5000, by: 7) {
            #expect(long.moved(from: PlayPosition(frame: frame), by: -5).frame == frame - 220_500)
        }
    }
}
