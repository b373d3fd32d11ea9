import Filters
import Takes
import Testing

@testable import Doctor

@Suite struct SignalSummaryTests {
    @Test func `each channel is measured by itself, offset and alternating part apart`() throws {
        // Left: alternately 3/4 and 1/4 of full scale. Right: alternately both limits.
        let frames: [Int16] = [24576, 32767, 8192, -32768]
        let samples = Array(repeating: frames, count: 100).flatMap(\.self)
        let bytes = samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)
        let summary = SignalSummary(of: bytes, format: format)
        #expect(summary.frameCount == 200)
        let left = summary.channels[0]
        #expect(
            left
                == ChannelSignal(frames: 200, least: 0.25, greatest: 0.75, offset: 0.5, alternatingSquare: 0.0625))
        let right = summary.channels[1]
        #expect(right.clippedFrames == 200)
        #expect(right.peak == 1)
        #expect(abs(right.offset) < 1e-4)
        #expect(abs(right.alternatingRMS - 1) < 1e-4)
    }

    @Test(arguments: SampleFormat.allCases)
    func `silence is silence in every format`(sampleFormat: SampleFormat) {
        let format = StreamFormat(rateHz: 8000, channels: 3, sampleFormat: sampleFormat)
        let summary = SignalSummary(of: [UInt8](repeating: 0, count: 10 * format.bytesPerFrame), format: format)
        #expect(summary.channels == Array(repeating: ChannelSignal(frames: 10), count: 3))
        #expect(summary.frameCount == 10)
    }

    @Test func `without a frame there is no signal`() {
        let format = StreamFormat(rateHz: 8000, channels: 2, sampleFormat: .s16)
        #expect(SignalSummary(of: [], format: format).channels == [ChannelSignal(), ChannelSignal()])
    }
}

@Suite struct SignalCheckTests {
    private func findings(_ channels: ChannelSignal..., sampleFormat: SampleFormat = .s16) -> [Finding] {
        let format = StreamFormat(rateHz: 48000, channels: channels.count, sampleFormat: sampleFormat)
        return SignalCheck(card: "card:Mic", summary: SignalSummary(channels: channels, format: format)).findings
    }

    private func channel(_ least: Double, _ greatest: Double, offset: Double, rms: Double) -> ChannelSignal {
        ChannelSignal(
            frames: 96000, least: least, greatest: greatest, offset: offset, alternatingSquare: rms * rms)
    }

    private var speech: ChannelSignal { channel(-0.25, 0.25, offset: 0.001, rms: 0.025) }
    private let dead = ChannelSignal(frames: 96000)

    @Test func `a channel has the number that it has on the card`() {
        let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)
        let found = SignalCheck(
            card: "card:Mic", summary: SignalSummary(channels: [speech, dead], format: format), numbers: [1, 3]
        ).findings
        #expect(
            found.map(\.message) == [
                "card:Mic: dead on one side: channel 3: digital silence, while the rest has a signal: right if nothing is wired to "
                    + "it, else check its microphone and cable"
            ])
        #expect(found.first?.figures.keys.contains("channel_3_peak_dbfs") == true)
    }

    @Test func `speech is well`() {
        let found = findings(speech, speech)
        #expect(found.map(\.severity) == [.ok])
        #expect(
            found[0].message
                == "card:Mic: 2 s sampled: channel 1: peak -12 dBFS, RMS -32 dBFS; channel 2: peak -12 dBFS, RMS -32 dBFS"
        )
        #expect(found[0].figures["channel_2_clipped_frames"] == .number(0))
    }

    @Test func `no signal on any channel is a failure, on one of them a warning`() {
        #expect(findings(dead, dead).map(\.severity) == [.failure])
        #expect(
            findings(dead, dead)[0].message.hasPrefix(
                "card:Mic: dead: channel 1: digital silence; channel 2: digital silence: check"))
        let one = findings(speech, dead)
        #expect(one.map(\.severity) == [.warning])
        #expect(one[0].message.hasPrefix("card:Mic: dead on one side: channel 2: digital silence, while"))
    }

    @Test func `an input that is stuck beside zero is dead, and not blamed for more`() {
        // The last bit alternates.
        let stuck = channel(0.5, 0.5 + 1 / 32768, offset: 0.5, rms: 0.5 / 32768)
        #expect(
            findings(stuck).map(\.message) == [
                "card:Mic: dead: channel 1: stuck at -6 dBFS: check the microphone, its cable and its power, and that the input "
                    + "is not switched off in the mixer"
            ])
    }

    @Test func `what is dead depends on the bits of the card, and not on peaks`() {
        let quiet = channel(-1e-4, 1e-4, offset: 0, rms: 1e-5)
        #expect(findings(quiet)[0].message.contains("card:Mic: dead: channel 1: RMS -100 dBFS"))
        #expect(findings(quiet, sampleFormat: .s24)[0].message.contains("very quiet"))
        #expect(findings(quiet, sampleFormat: .float)[0].message.contains("very quiet"))
        let less = channel(-1e-4, 1e-4, offset: 0, rms: 5e-6)
        #expect(findings(less, sampleFormat: .s24)[0].message.contains("dead"))
    }

    @Test func `a single sample at full scale is clipping`() {
        var loud = speech
        loud.clippedFrames = 1
        let found = findings(speech, loud)
        #expect(found.map(\.severity) == [.failure])
        #expect(found[0].message == "card:Mic: clips: channel 2: 1 of 96000 samples at full scale: turn the gain down")
    }

    @Test func `an offset is reported from a hundredth of full scale on, of either sign`() {
        for (offset, count) in [(0.0099, 0), (-0.0099, 0), (0.011, 1), (-0.011, 1)] {
            var channel = speech
            channel.offset = offset
            #expect(findings(channel).count { $0.severity == .failure } == count)
        }
        var channel = speech
        channel.offset = -0.02
        #expect(findings(channel)[0].message.contains("channel 1: -2 % of full scale (-34 dBFS)"))
    }

    @Test func `a quiet input is a warning, from -70 dBFS down`() {
        var quiet = speech
        for (rms, severity) in [(3.3e-4, Finding.Severity.ok), (3.1e-4, .warning)] {
            quiet.alternatingSquare = rms * rms
            #expect(findings(quiet).map(\.severity) == [severity])
        }
    }

    @Test func `two faults are two findings`() {
        var clipped = speech
        clipped.clippedFrames = 7
        var offset = speech
        offset.offset = 0.1
        #expect(findings(clipped, offset).map(\.severity) == [.failure, .failure])
    }
}
