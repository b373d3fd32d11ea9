import Takes
import Testing

struct StreamFormatTests {
    @Test func `samples have their size, their bits and their layout in a file`() {
        #expect(SampleFormat.allCases.map(\.rawValue) == ["S16_LE", "S24_3LE", "S24_LE", "S32_LE", "FLOAT_LE"])
        #expect(SampleFormat.allCases.map(\.bytesPerSample) == [2, 3, 4, 4, 4])
        #expect(SampleFormat.allCases.map(\.significantBits) == [16, 24, 24, 32, 32])
        #expect(SampleFormat.allCases.map(\.stored) == [.s16, .s24Packed, .s24Packed, .s32, .float])
    }

    @Test func `frames and durations convert to the nearest`() {
        let format = StreamFormat(rateHz: 44_100, channels: 3, sampleFormat: .s24)
        #expect(format.bytesPerFrame == 12)
        #expect(format.stored.bytesPerFrame == 9)
        #expect(format.frames(in: .milliseconds(10)) == 441)
        #expect(format.frames(in: .microseconds(34)) == 1)
        #expect(format.duration(ofFrames: 1) == .nanoseconds(22_676))
        #expect(format.frames(in: format.duration(ofFrames: 158_760_000_001)) == 158_760_000_001)
    }
}
