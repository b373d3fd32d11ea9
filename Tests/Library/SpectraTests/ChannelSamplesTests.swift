import Takes
import Testing

@testable import Spectra

@Suite struct ChannelSamplesTests {
    /// A frame's samples in a layout, as bytes.
    private func encoded(_ number: Double, _ layout: SampleFormat) -> [UInt8] {
        let word: UInt32 =
            switch layout {
            case .s16: UInt32(bitPattern: Int32(number * 0x1p15))
            case .s24Packed, .s24: UInt32(bitPattern: Int32(number * 0x1p23)) & 0xff_ffff | 0x5a00_0000
            case .s32: UInt32(bitPattern: Int32(number * 0x1p31))
            case .float: Float(number).bitPattern
            }
        return (0..<layout.bytesPerSample).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) }
    }

    @Test(arguments: SampleFormat.allCases, [1, 2, 3, 7])
    func `each channel has its numbers, whatever the layout`(_ layout: SampleFormat, _ channels: Int) {
        let frames = 37
        // Multiples of 2⁻¹⁵ are exact in each layout.
        let samples = (0..<frames * channels).map { Double(($0 * 7919 + 1) % 65_536 - 32_768) / 32_768 }
        let bytes = samples.flatMap { encoded($0, layout) }
        let format = StreamFormat(rateHz: 48_000, channels: channels, sampleFormat: layout)
        for channel in 0..<channels {
            let wanted = (0..<frames).map { Float(samples[$0 * channels + channel]) }
            #expect(ChannelSamples.numbers(bytes.span.bytes, format, channel: channel) == wanted)
        }
    }

    @Test func `numbers that are none, or too large, are silence`() {
        let numbers: [Float] = [.nan, .infinity, -.infinity, 1e30, -65_537, 65_536, -2]
        let bytes = numbers.flatMap { number in
            (0..<4).map { UInt8(truncatingIfNeeded: number.bitPattern >> UInt32(8 * $0)) }
        }
        let format = StreamFormat(rateHz: 48_000, channels: 1, sampleFormat: .float)
        #expect(ChannelSamples.numbers(bytes.span.bytes, format, channel: 0) == [0, 0, 0, 0, 0, 65_536, -2])
    }
}
