import Filters
import Takes
import Testing

@Suite struct SampleEncoderTests {
    private func encode(_ samples: [Double], _ format: SampleFormat, bits: Int? = nil) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xee, count: samples.count * format.bytesPerSample)
        bytes.withUnsafeMutableBytes { SampleEncoder(format, significantBits: bits).encode(samples.span, into: $0) }
        return bytes
    }

    @Test(arguments: [
        (SampleFormat.s16, [0xff, 0x7f, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00]),
        (.s24Packed, [0xff, 0xff, 0x7f, 0x00, 0x00, 0x80, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00]),
        (
            .s24,
            [
                0xff, 0xff, 0x7f, 0x00, 0x00, 0x00, 0x80, 0xff, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0, 0,
                0, 0,
            ]
        ),
        (
            .s32,
            [
                0xff, 0xff, 0xff, 0x7f, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0, 0,
                0, 0,
            ]
        ),
    ])
    func `numbers beyond full scale saturate, and what is not a number is silence`(format: SampleFormat, bytes: [UInt8])
    {
        #expect(encode([1.5, -1.5, 1.0 / 32768, 1.0 / 2_147_483_648, .nan], format) == bytes)
    }

    @Test func `every integer of 24 bits comes back as itself`() {
        let integers = Array(stride(from: -8_388_608, to: 8_388_608, by: 9973)) + [8_388_607]
        let bytes = encode(integers.map { Double($0) / 8_388_608 }, .s24Packed)
        let back = integers.indices.map { index in
            let value =
                UInt32(bytes[3 * index]) | UInt32(bytes[3 * index + 1]) << 8 | UInt32(bytes[3 * index + 2]) << 16
            return Int(Int32(bitPattern: value << 8) >> 8)
        }
        #expect(back == integers)
    }

    @Test func `a card of 24 bits in 32 gets each sample of 24 bits exactly, and others rounded`() {
        let integers = Array(stride(from: -8_388_608, to: 8_388_608, by: 9973)) + [8_388_607]
        let exact = encode(integers.map { Double($0) / 8_388_608 }, .s32, bits: 24)
        #expect(Sound.words(exact) == integers.map { Int32($0 << 8) })
        let between = encode([1.5, -1.5, 0.6 / 8_388_608, 0.4 / 8_388_608, -0.6 / 8_388_608, .nan], .s32, bits: 24)
        #expect(Sound.words(between) == [0x7FFF_FF00, .min, 0x100, 0, -0x100, 0])
    }

    @Test func `floats keep what is above full scale`() {
        let bytes = encode([1.5, -0.25], .float)
        let back = bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        #expect(back == [1.5, -0.25])
    }
}
