import Testing

@testable import Playback

@Suite struct ChannelMapTests {
    @Test(arguments: [
        (1, 2, [0.5], [0.5, 0.5]),
        (1, 4, [0.5], [0.5, 0.5, 0, 0]),
        (1, 1, [0.5], [0.5]),
        (2, 1, [0.5, -0.25], [0.125]),
        (2, 4, [0.5, 0.25], [0.5, 0.25, 0, 0]),
        (4, 2, [0.5, 0.25, 1, 0.75], [0.75, 0.5]),
        (3, 2, [0.5, 0.25, 1], [0.75, 0.25]),
        (5, 3, [1, 2, 3, 4, 5], [2.5, 3.5, 3]),
    ])
    func `every channel is played, and none louder than full scale`(
        from: Int, to: Int, frame: [Double], expected: [Double]
    ) {
        var result = [Double](repeating: 9, count: 2 * to)
        ChannelMap(from: from, to: to).map(frame + frame, frameCount: 2, into: &result)
        #expect(result == expected + expected)
    }
}
