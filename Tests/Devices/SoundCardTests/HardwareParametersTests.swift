import CALSA
import Glibc
import Takes
import Testing

@testable import SoundCard

/// Parameters of ALSA's null plug-in, which a scripted driver applies. The tests run serially, because the process has
/// one ALSA configuration.
@Suite(.serialized) struct HardwareParametersTests {
    private let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s32)

    init() throws {
        _ = try OwnALSA.folder()
    }

    private func settled(
        bits: @escaping @convention(c) (OpaquePointer, OpaquePointer) -> Int32 = { _, _ in 0 },
        install: @escaping @convention(c) (OpaquePointer, OpaquePointer) -> Int32 = { snd_pcm_hw_params($0, $1) },
        buffer: Duration = .seconds(30)
    ) throws -> OpenPCM.Grant {
        try OpenPCM(opening: "null", .capture, automatic: false).configure(
            format, period: .milliseconds(120), buffer: buffer,
            calls: ParameterCalls(install: install, significantBits: bits))
    }

    // MARK: Significant bits

    @Test func `a converter of 24 bits behind samples of 32 is granted as 24 bits`() throws {
        let grant = try settled(bits: { _, _ in 24 })
        #expect(grant.format == StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s32, significantBits: 24))
        #expect(try settled().format.significantBits == 32)
    }

    @Test(arguments: [
        (SampleFormat.s32, Int32(24), 24), (.s32, 20, 20), (.s32, 18, 18), (.s32, 32, 32), (.s32, 0, 32),
        (.s32, -22, 32),
        (.s32, 33, 32), (.s24, 24, 24), (.s24, 32, 24), (.s24, 0, 24), (.s24Packed, 24, 24), (.s16, 16, 16),
        (.s16, 32, 16), (.float, 24, 32), (.float, 0, 32),
    ]) func `a card's count of significant bits is used where it can be true`(
        format: SampleFormat, reported: Int32, bits: Int
    ) {
        #expect(format.significantBits(reported: reported) == bits)
    }

    @Test func `a plug-in's samples have all their bits`() throws {
        #expect(try CapturePCM(opening: "null").configure(format).format == format)
    }

    @Test func `fewer significant bits than samples have are no reason for a warning`() {
        var granted = format
        granted.significantBits = 24
        #expect(Negotiation.warning(asked: format, granted: granted, by: "hw:CARD=Mic") == nil)
    }

    // MARK: The kernel's memory

    @Test func `a buffer that the kernel has no memory for is halved until it fits`() throws {
        let grant = try settled(install: { pcm, parameters in
            var frames: snd_pcm_uframes_t = 0
            snd_pcm_hw_params_get_buffer_size(parameters, &frames)
            return frames > 200_000 ? -ENOMEM : snd_pcm_hw_params(pcm, parameters)
        })
        // 30 s, 15, 7.5, then 3.75 s, rounded to whole periods.
        #expect(grant.bufferFrames == 31 * 5760)
        #expect(grant.periodFrames == 5760)
        #expect(grant.format == format)
    }

    @Test func `half a second is tried last`() throws {
        let grant = try settled(install: { pcm, parameters in
            var frames: snd_pcm_uframes_t = 0
            snd_pcm_hw_params_get_buffer_size(parameters, &frames)
            return frames > 24000 ? -ENOMEM : snd_pcm_hw_params(pcm, parameters)
        })
        #expect(grant.bufferFrames == 4 * 5760)
        let error = #expect(throws: SoundCardError.self) { try settled(install: { _, _ in -ENOMEM }) }
        #expect(
            error?.description
                == "capture: null: cannot set 48000 Hz, 2 channels, S32_LE: Cannot allocate memory")
        let short = #expect(throws: SoundCardError.self) {
            try settled(install: { _, _ in -ENOMEM }, buffer: .milliseconds(45))
        }
        #expect(short?.code == ENOMEM)
    }

    @Test func `another refusal is final`() throws {
        let error = #expect(throws: SoundCardError.self) {
            try settled(install: { _, parameters in
                var frames: snd_pcm_uframes_t = 0
                snd_pcm_hw_params_get_buffer_size(parameters, &frames)
                return frames > 1_000_000 ? -ENOMEM : -ENODEV
            })
        }
        #expect(error?.code == ENODEV)
    }
}
