import Takes
import Testing

@testable import SoundCard

private func offer(_ format: SampleFormat, _ channels: [Int], _ ratesHz: [Int]) -> Offers.Combination {
    Offers.Combination(format: format, channels: channels, ratesHz: ratesHz)
}

private func take(_ rateHz: Int, _ channels: Int, _ format: SampleFormat) -> StreamFormat {
    StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: format)
}

private let every = SampleFormat.allCases.map { offer($0, Array(1...32), [8000, 44100, 48000, 96000]) }

struct PlaybackNegotiationTests {
    private func first(_ take: StreamFormat, on offers: [Offers.Combination]) throws -> String? {
        let candidates = try PlaybackNegotiation(take: take).candidates(from: Offers(offers), of: "hw:CARD=DAC")
        #expect(Set(candidates).count == candidates.count)
        #expect(candidates.allSatisfy { Offers(offers).contain($0) })
        return candidates.first?.summary
    }

    @Test(arguments: SampleFormat.allCases)
    func `a card that has everything plays every take as it is`(format: SampleFormat) throws {
        for channels in [1, 2, 7] {
            for rate in [8000, 44100, 96000] {
                #expect(try first(take(rate, channels, format), on: every) == take(rate, channels, format).summary)
            }
        }
    }

    @Test(arguments: [
        ([44100, 48000, 96000], 44100, 44100), ([48000, 88200, 96000], 44100, 88200), ([48000, 96000], 44100, 48000),
        ([44100, 48000, 96000], 16000, 48000), ([44100, 48000, 96000], 8000, 48000), ([44100], 8000, 44100),
        ([22050, 44100], 16000, 22050), ([44100, 48000], 96000, 48000), ([44100, 48000, 192_000], 96000, 192_000),
        ([44100, 48000, 96000], 88200, 96000), ([8000, 44100], 48000, 44100), ([32000, 64000, 96000], 44100, 64000),
        ([96000, 192_000], 48000, 96000), ([32000, 48000], 22050, 48000),
    ])
    func `the rate is the take's, or one that it goes into, or 48 kHz, or the nearest above, or the highest`(
        offered: [Int], asked: Int, played: Int
    ) throws {
        #expect(
            try first(take(asked, 2, .s16), on: [offer(.s16, [2], offered)]) == take(played, 2, .s16).summary)
    }

    @Test(arguments: [
        ([2], 1, 2), ([1, 2], 1, 1), ([2, 8], 1, 2), ([4, 8], 1, 4), ([2, 4, 6], 3, 4), ([1, 2], 6, 2), ([8], 2, 8),
    ])
    func `the channels are the take's, or the fewest above, or the most`(
        offered: [Int], asked: Int, played: Int
    ) throws {
        #expect(
            try first(take(48000, asked, .s16), on: [offer(.s16, offered, [48000])])
                == take(48000, played, .s16).summary)
    }

    @Test(
        arguments: [
            ([.s16, .s24Packed, .s24, .s32], .s16, .s16), ([.s24Packed, .s32], .s16, .s24Packed),
            ([.s32, .s24], .s16, .s24), ([.float, .s32], .s16, .s32),
            ([.s16, .s24, .s32], .s24Packed, .s24), ([.s16, .s32, .float], .s24Packed, .s32),
            ([.s16, .float], .s24Packed, .float), ([.s16], .s24Packed, .s16), ([.s24Packed, .s32], .s24, .s24Packed),
            ([.s16, .s24Packed, .float], .s32, .float), ([.s16, .s24, .s24Packed], .s32, .s24Packed),
            ([.s32, .float], .float, .float), ([.s16, .s24, .s32], .float, .s32), ([.s16, .s24], .float, .s24),
        ] as [([SampleFormat], SampleFormat, SampleFormat)])
    func `the layout is the take's, or the narrowest that holds it, or the widest`(
        offered: [SampleFormat], asked: SampleFormat, played: SampleFormat
    ) throws {
        #expect(
            try first(take(48000, 2, asked), on: offered.map { offer($0, [2], [48000]) })
                == take(48000, 2, played).summary)
    }

    @Test func `rather than lose bits or channels a take is played with more of them`() throws {
        // 24 bits exist only in stereo: a mono take keeps its bits.
        let wideStereo = [offer(.s16, [1, 2], [48000]), offer(.s32, [2], [48000])]
        #expect(try first(take(48000, 1, .s24Packed), on: wideStereo) == "48000 Hz, 2 channels, S32_LE")
        // 24 bits exist only in stereo, and six channels only in 16 bits: no channel is dropped.
        let split = [offer(.s16, [6], [48000]), offer(.s24Packed, [2], [48000])]
        #expect(try first(take(48000, 6, .s24Packed), on: split) == "48000 Hz, 6 channels, S16_LE")
        // The rate has priority, to avoid unnecessary resampling.
        let slow = [offer(.s16, [2], [44100]), offer(.s32, [2], [48000])]
        #expect(try first(take(44100, 2, .s24Packed), on: slow) == "44100 Hz, 2 channels, S16_LE")
    }

    @Test func `candidates come best first`() throws {
        let offers = Offers([offer(.s16, [1, 2], [44100, 48000, 96000]), offer(.s24Packed, [2], [48000])])
        let candidates = try PlaybackNegotiation(take: take(48000, 1, .s24Packed))
            .candidates(from: offers, of: "hw:CARD=DAC")
        #expect(
            candidates.map(\.summary) == [
                "48000 Hz, 2 channels, S24_3LE", "48000 Hz, 1 channel, S16_LE", "48000 Hz, 2 channels, S16_LE",
                "96000 Hz, 1 channel, S16_LE", "96000 Hz, 2 channels, S16_LE", "44100 Hz, 1 channel, S16_LE",
                "44100 Hz, 2 channels, S16_LE",
            ])
    }

    @Test func `a card that plays in no format of ours is refused`() {
        let error = #expect(throws: SoundCardError.self) {
            try PlaybackNegotiation(take: take(48000, 2, .s16)).candidates(from: Offers([]), of: "hw:CARD=DAC")
        }
        #expect(
            error?.description
                == "play: hw:CARD=DAC: cannot play: it offers none of the formats S16_LE, S24_3LE, S24_LE, S32_LE, "
                + "FLOAT_LE in interleaved frames (set playback.card to \"pcm:plughw:CARD=DAC\": ALSA converts its formats then)"
        )
    }
}
