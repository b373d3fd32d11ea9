import Takes
import Testing

struct StreamFormatTests {
    private func stored(_ format: SampleFormat, _ bits: Int?) -> StreamFormat {
        StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: format, significantBits: bits).stored
    }

    @Test func `samples have their size and their bits`() {
        #expect(SampleFormat.allCases.map(\.rawValue) == ["S16_LE", "S24_3LE", "S24_LE", "S32_LE", "FLOAT_LE"])
        #expect(SampleFormat.allCases.map(\.bytesPerSample) == [2, 3, 4, 4, 4])
        #expect(SampleFormat.allCases.map(\.significantBits) == [16, 24, 24, 32, 32])
    }

    @Test func `24 bits take 3 bytes in a file, wherever in 4 the card has them`() {
        let layouts = SampleFormat.allCases.map { stored($0, nil).sampleFormat }
        #expect(layouts == [.s16, .s24Packed, .s24Packed, .s32, .float])
        #expect([16, 18, 20, 24].map { stored(.s32, $0).sampleFormat } == Array(repeating: .s24Packed, count: 4))
        #expect([25, 32].map { stored(.s32, $0).sampleFormat } == [.s32, .s32])
        #expect([18, 24].map { stored(.s32, $0).significantBits } == [18, 24])
        #expect(stored(.s24, 20) == stored(.s24Packed, 20))
    }

    @Test func `no more bits carry signal than a sample has, and one does`() {
        for (bits, expected) in [(-5, 1), (0, 1), (24, 24), (99, 32)] {
            let format = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s32, significantBits: bits)
            #expect(format.significantBits == expected)
        }
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
