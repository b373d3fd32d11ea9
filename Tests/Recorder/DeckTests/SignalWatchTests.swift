import Filters
import Takes
import Testing
import Transport

@testable import Deck

@Suite struct SignalWatchTests {
    private let start = Instant(nanoseconds: 0)
    private let format = StreamFormat(rateHz: 8000, channels: 2, sampleFormat: .s16)

    /// The content of 2 s of a channel. An offset has a peak of half of full scale, and no alternating part.
    private enum Sound { case loud, silent, offset, clipped }

    private func stretch(_ sounds: [Sound], frames: Int64) -> [ChannelSignal] {
        sounds.map { sound in
            switch sound {
            case .loud: ChannelSignal(frames: frames, least: -0.25, greatest: 0.25, alternatingSquare: 0.01)
            case .silent: ChannelSignal(frames: frames)
            case .offset: ChannelSignal(frames: frames, least: 0.5, greatest: 0.50003, offset: 0.5)
            case .clipped: ChannelSignal(frames: frames, least: -1, greatest: 1, alternatingSquare: 1, clippedFrames: 3)
            }
        }
    }

    /// The fault after each of `sounds`, which are 2 s apart. Each is added in the given number of stretches.
    private func faults(_ sounds: [[Sound]], stretches: Int = 1) -> [String] {
        var format = format
        format.channels = sounds[0].count
        var watch = SignalWatch(format: format)
        return sounds.enumerated().map { step, sound in
            let now = start + .seconds(2 * step)
            for _ in 0..<stretches {
                watch.add(stretch(sound, frames: format.frames(in: .seconds(2)) / Int64(stretches)), now: now)
            }
            let faults = watch.faults(now: now, card: "card:Mic", past: PastWords(now: now) { nil })
            return faults.isEmpty ? "-" : faults.map(\.message).joined(separator: " | ")
        }
    }

    private func nothing(_ channels: String) -> String {
        "signal: card:Mic: no signal on channel \(channels) for 10 s: check the microphone and its cable"
    }

    @Test func `a channel has the number that it has on the card`() {
        var watch = SignalWatch(format: StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16), numbers: [4, 2])
        func message(_ now: Instant) -> String? {
            let faults = watch.faults(now: now, card: "card:Mic", past: PastWords(now: now) { nil })
            return faults.isEmpty ? nil : faults.map(\.message).joined(separator: " | ")
        }
        watch.add(stretch([.clipped, .silent], frames: 480_000), now: start)
        #expect(message(start) == "signal: card:Mic: clipped on channel 4: turn the gain down")
        for second in [10, 20] {
            watch.add(stretch([.silent, .silent], frames: 480_000), now: start + .seconds(second))
        }
        #expect(message(start + .seconds(20)) == nothing("4, 2"))
        watch.add(stretch([.loud, .loud], frames: 480_000), now: start + .seconds(30))
        let quiet = ChannelSignal(frames: 24_000, least: -0.001, greatest: 0.001, alternatingSquare: 1e-7)
        let loud = stretch([.loud, .loud], frames: 24_000)
        _ = watch.add(halves: Array(repeating: loud, count: 130), now: start + .seconds(95))
        _ = watch.add(halves: Array(repeating: [loud[0], quiet], count: 120), now: start + .seconds(155))
        #expect(
            message(start + .seconds(155))
                == "signal: card:Mic: the signal fell by 50 dB over 1 min ago on channel 2: check the microphone's plug and "
                + "cable")
    }

    @Test func `clipping is reported for 5 s, with its channel`() {
        let clipped = "signal: card:Mic: clipped on channel 2: turn the gain down"
        #expect(
            faults([[.loud, .loud], [.loud, .clipped], [.loud, .loud], [.loud, .loud], [.loud, .loud]])
                == ["-", clipped, clipped, clipped, "-"])
    }

    @Test func `clipping is reported behind a channel without a signal`() {
        let sounds = Array(repeating: [Sound.loud, .loud], count: 3) + Array(repeating: [.clipped, .silent], count: 6)
        let clipped = "signal: card:Mic: clipped on channel 1: turn the gain down"
        #expect(
            faults(sounds) == ["-", "-", "-"] + Array(repeating: clipped, count: 4)
                + Array(repeating: nothing("2") + " | " + clipped, count: 2))
    }

    @Test(arguments: [1, 5, 20]) func `a card without a signal for 10 s is reported until it has one`(stretches: Int) {
        let silent = [Sound.silent, .silent]
        #expect(
            faults([silent, silent, silent, silent, silent, silent, [.loud, .silent]], stretches: stretches)
                == ["-", "-", "-", "-", nothing("1, 2"), nothing("1, 2"), "-"])
    }

    @Test func `an offset is no signal, however large it is`() {
        #expect(
            faults(Array(repeating: [.offset, .silent], count: 6)) == [
                "-", "-", "-", "-", nothing("1, 2"), nothing("1, 2"),
            ])
    }

    @Test func `an input with nothing plugged in is not reported while another has a signal`() {
        #expect(faults(Array(repeating: [.loud, .silent], count: 10)) == Array(repeating: "-", count: 10))
        #expect(faults(Array(repeating: [.loud, .offset], count: 10)) == Array(repeating: "-", count: 10))
    }

    @Test func `a click when the card is opened does not make an input one that had a signal`() {
        let sounds = [[Sound.loud, .loud]] + Array(repeating: [.loud, .offset], count: 9)
        #expect(faults(sounds) == Array(repeating: "-", count: 10))
    }

    @Test func `an input that had a signal and lost it is reported while another has one`() {
        let sounds = Array(repeating: [Sound.loud, .loud], count: 3) + Array(repeating: [.loud, .offset], count: 6)
        #expect(faults(sounds) == Array(repeating: "-", count: 7) + [nothing("2"), nothing("2")])
    }

    @Test func `a sound every 8 s keeps an input alive`() {
        let sounds = (0..<20).map { [Sound.loud, $0 % 4 == 0 ? .loud : .silent] }
        #expect(faults(sounds) == Array(repeating: "-", count: 20))
        #expect(faults(sounds.map { [$0[1]] }) == Array(repeating: "-", count: 20))
    }

    @Test func `stretches without a frame change nothing`() {
        var watch = SignalWatch(format: format)
        for step in 0..<20 {
            watch.add(stretch([.silent, .silent], frames: 0), now: start + .seconds(step))
            let now = start + .seconds(step)
            #expect(watch.faults(now: now, card: "card:Mic", past: PastWords(now: now) { nil }) == [])
        }
    }
}
