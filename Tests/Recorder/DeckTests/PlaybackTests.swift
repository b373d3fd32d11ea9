import Filters
import Panel
import Ring
import ScriptedPlayback
import TakeFiles
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

@Suite struct PlaybackTests {
    /// A rig with takes of the given lengths in milliseconds, at 8 kHz. Sample n of a take is its first sample plus n.
    private func rig(takes: [Int64], _ configure: (inout DeckOptions) -> Void = { _ in }) throws -> Rig {
        let rig = try Rig {
            $0.volume = 1
            configure(&$0)
        }
        for length in takes {
            rig.run(.milliseconds(300))
            rig.press(.record)
            rig.run(.milliseconds(length - 15))
            rig.press(.stop)
            rig.settle()
        }
        return rig
    }

    private func first(_ rig: Rig, take: Int = 0) throws -> Int {
        let sidecar = try rig.sidecars()[take]
        return Int(try rig.samples(sidecar.parts[0].file, of: sidecar)[0])
    }

    private func playOut(_ rig: Rig) {
        for _ in 0..<4000 where rig.deck.state == .playing { rig.run(.milliseconds(10), step: .milliseconds(5)) }
    }

    /// The played samples, without the silence before and after.
    private func sound(_ rig: Rig) -> [Int16] {
        let samples = rig.sink.samples
        guard let first = samples.firstIndex(where: { $0 != 0 }), let last = samples.lastIndex(where: { $0 != 0 })
        else { return [] }
        return Array(samples[first...last])
    }

    @Test func `the status has the volume in force, from the settings and then from a request`() throws {
        let rig = try rig(takes: []) { $0.volume = 0.5 }
        #expect(rig.deck.status.volume == 0.5)
        rig.deck.perform(.volume(0.25)) { _ in }
        rig.work()
        #expect(rig.deck.status.volume == 0.25)
    }

    @Test func `a take is played whole, from its first frame to its last`() throws {
        let rig = try rig(takes: [1700])
        let first = try first(rig)
        rig.press(.play)
        #expect(rig.deck.state == .playing)
        playOut(rig)
        #expect(rig.deck.state == .idle)
        #expect(difference(sound(rig), first..<first + 8 * 1700) == nil)
        #expect(!rig.sink.isOpen)
        // Silence after the sound gives the card time to output the last frame.
        #expect(rig.sink.samples.reversed().prefix { $0 == 0 }.count >= 8 * 20)
        #expect(rig.sink.requests.map(\.format) == [StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16)])
        #expect(rig.sink.requests[0].companion == .cardID("Scripted"))
        #expect(rig.deck.status.armed)
    }

    @Test func `a take shorter than the card's queue is played whole`() throws {
        let rig = try rig(takes: [40])
        let first = try first(rig)
        rig.press(.play)
        playOut(rig)
        #expect(difference(sound(rig), first..<first + 8 * 40) == nil)
    }

    @Test func `play pauses and resumes without losing a frame`() throws {
        let rig = try rig(takes: [3000])
        let first = try first(rig)
        rig.press(.play)
        rig.run(.milliseconds(700))
        rig.press(.play)
        #expect(rig.deck.state == .paused)
        #expect(rig.deck.indication.playback == .paused)
        rig.run(.seconds(5), step: .milliseconds(5))
        let before = rig.sink.samples.count
        let position = try #require(rig.deck.status.positionSeconds)
        rig.press(.play)
        #expect(rig.deck.indication.playback == .playing)
        playOut(rig)
        let played = rig.sink.samples
        let cut = Int((position * 8000).rounded())
        // The sound plays up to the cut, with a fade before it, and from there on.
        let fade = Int(8 * 3)
        #expect(difference(Array(played[..<(cut - fade)]), first..<first + cut - fade) == nil)
        let rest = Array(played[before...].drop { $0 == 0 })
        #expect(rest.count >= 8 * 3000 - cut - 1)
        #expect(rest.last { $0 != 0 } == sampleValue(first + 8 * 3000 - 1))
        let after = Array(rest.prefix { $0 != 0 }.suffix(8 * 3000 - cut - fade))
        #expect(difference(after, (first + cut + fade)..<(first + 8 * 3000)) == nil)
        #expect(rig.sink.underruns == 0)
    }

    /// The place where the sound jumps: the frames right before and after it, numbered by the card, found from the
    /// full-volume sound around it.
    private func jump(_ played: [Int16]) -> (from: Int, to: Int)? {
        let fade = 24
        for index in fade..<played.count - fade - 1 {
            // `index` is the first frame of the fade.
            if played[index] != played[index - 1] &+ 1, played[index - 1] == played[index - 2] &+ 1 {
                let cut = index + fade
                guard let clean = (cut + fade..<played.count - 1).first(where: { played[$0 + 1] == played[$0] &+ 1 })
                else {
                    return nil
                }
                return (Int(played[index - 1]) + fade + 1, Int(played[clean]) - (clean - cut))
            }
        }
        return nil
    }

    @Test(arguments: [true, false])
    func `back and forward jump by exactly five seconds, at once`(canTakeBack: Bool) throws {
        let rig = try rig(takes: [3000]) { $0.rules.skip = .seconds(1) }
        rig.sink.canTakeBack = canTakeBack
        for (button, distance) in [(Button.forward, 8000), (.back, -8000)] {
            rig.sink.clear()
            rig.press(.play)
            rig.run(.milliseconds(1200), step: .milliseconds(5))
            let before = rig.sink.samples.count
            rig.press(button)
            rig.run(.milliseconds(100), step: .milliseconds(5))
            let jump = try #require(self.jump(rig.sink.samples))
            #expect(jump.to - jump.from == distance)
            // 15 ms for the debounce, 5 ms until the player's turn, 25 ms that are kept, 3 ms for the fade.
            let index = try #require(rig.sink.samples.lastIndex { $0 == Int16(jump.from - 25) })
            #expect(index + 24 - before <= 8 * 48)
            rig.press(.stop)
            rig.run(.milliseconds(100), step: .milliseconds(5))
            #expect(rig.deck.state == .idle)
        }
    }

    @Test func `a skip goes no further than either end`() throws {
        let rig = try rig(takes: [2000])
        rig.press(.play)
        rig.run(.milliseconds(500), step: .milliseconds(5))
        rig.press(.back)
        rig.run(.milliseconds(50), step: .milliseconds(5))
        var position = try #require(rig.deck.status.positionSeconds)
        #expect(position < 0.06)
        rig.press(.play)
        rig.run(.milliseconds(50), step: .milliseconds(5))
        rig.press(.forward)
        rig.run(.milliseconds(5))
        position = try #require(rig.deck.status.positionSeconds)
        #expect(position == 2)
        #expect(rig.deck.state == .paused)
        rig.press(.back)
        rig.press(.forward)
        rig.press(.play)
        playOut(rig)
        #expect(rig.deck.state == .idle)
    }

    @Test func `a take in parts is played without a seam, and skips cross from part to part`() throws {
        let rig = try rig(takes: [])
        try addTake(to: rig, [8000, 4000, 6000])
        let first = 100
        rig.press(.play)
        playOut(rig)
        #expect(difference(sound(rig), first..<first + 18000) == nil)
        #expect(rig.sink.requests.count == 1)
        rig.sink.clear()
        rig.press(.play)
        rig.run(.milliseconds(1200), step: .milliseconds(5))
        rig.deck.perform(.skip(seconds: -0.5)) { _ in }
        rig.run(.milliseconds(100), step: .milliseconds(5))
        let back = try #require(jump(rig.sink.samples))
        #expect(back.to - back.from == -4000)
        let position = try #require(rig.deck.status.positionSeconds)
        #expect(abs(position - 0.8) < 0.02)
    }

    /// A take with parts of the given lengths in frames. Its samples count up from 100.
    private func addTake(to rig: Rig, _ lengths: [Int64]) throws {
        let format = StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16)
        try addTake(to: rig, format) { output in
            var next = 100
            for (index, length) in lengths.enumerated() {
                if index > 0 { try output.beginPart(format: format, firstFrame: TakeFrame(Int64(next - 100))) }
                let samples = (next..<next + Int(length)).map(sampleValue)
                try samples.withUnsafeBytes { try output.append($0, unfiltered: nil) }
                next += Int(length)
            }
        }
    }

    private func addTake(to rig: Rig, _ format: StreamFormat, _ body: (TakeOutput) throws -> Void) throws {
        let directory = try #require(rig.deck.storage.directory)
        let name = try directory.nextTake(kit: "heron07", started: rig.clock.wallTime())
        let sidecar = Sidecar(
            name: name, started: rig.clock.wallTime(), startedMonotonic: rig.clock.now(), bootID: "boot", clock: .ntp,
            card: "card:Scripted", format: format, preRollFrames: 0, gainDB: nil, agc: nil, version: "test")
        let output = try TakeOutput(
            in: directory, name: name, sidecar: sidecar, started: rig.clock.wallTime(), format: format,
            keepsUnfiltered: false, splitBytes: 4000 << 20)
        try body(output)
        _ = try output.finish(endedBy: .stop, levels: [])
        rig.deck.selection.add(name)
    }

    @Test func `the volume ramps, and nothing is played twice or left out`() throws {
        let rig = try rig(takes: [2000])
        let first = try first(rig)
        rig.press(.play)
        rig.run(.milliseconds(500), step: .milliseconds(5))
        rig.deck.perform(.volume(0.5)) { _ in }
        playOut(rig)
        let played = sound(rig)
        #expect(played.count == 16000)
        let ratios = played.enumerated().map { Double($1) / Double(first + $0) }
        let full = ratios.prefix { $0 == 1 }.count
        let half = ratios.lastIndex { abs($0 - 0.5) > 0.001 } ?? 0
        #expect(full > 8 * 500 && half - full < 8 * 30 + 2 && half - full > 8 * 20)
        // No step is larger than the steepest part of the ramp, 1.5 × 0.5 within 240 frames, plus rounding.
        #expect(zip(ratios, ratios.dropFirst()).allSatisfy { $0 - $1 < 0.004 && $0 - $1 > -0.001 })
    }

    @Test func `record while playing stops the sound, and the take has nothing from before that`() throws {
        let rig = try rig(takes: [3000]) { $0.preRoll = .seconds(2) }
        rig.press(.play)
        rig.run(.milliseconds(1000), step: .milliseconds(5))
        rig.press(.record)
        #expect(!rig.deck.status.armed)
        rig.run(.milliseconds(100), step: .milliseconds(5))
        #expect(rig.deck.state == .recording)
        #expect(!rig.sink.isOpen)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().last)
        let silent = try #require(rig.deck.silentSince)
        #expect(sidecar.startedMonotonicNs == silent.nanoseconds)
        #expect(sidecar.preRollFrames == 0)
        let samples = try rig.samples(sidecar.parts[0].file, of: sidecar)
        let begun = Int(8 * (silent.nanoseconds - 100_000_000_000) / 1_000_000)
        #expect(difference(samples, begun..<begun + samples.count) == nil)
        // Later, the pre-roll begins no earlier than the silence.
        rig.run(.seconds(3))
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().last?.preRollFrames == 16000)
    }

    @Test func `not even a filter's memory of what was played is in the take`() throws {
        let rig = try rig(takes: [3000]) { $0.filter = FilterRequest(lowPass: .hertz(50)) }
        rig.card.sample = 20000
        rig.press(.play)
        rig.run(.milliseconds(1000), step: .milliseconds(5))
        rig.press(.record)
        rig.run(.milliseconds(50), step: .milliseconds(5))
        // The sound that the card samples from here on is silence.
        rig.card.sample = 0
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().last)
        let samples = try rig.samples(sidecar.parts[0].file, of: sidecar)
        #expect(samples.count > 4000 && samples.allSatisfy { $0 == 0 })
    }

    @Test func `stop ends the playing, faded, within a few hundredths of a second`() throws {
        let rig = try rig(takes: [3000])
        rig.press(.play)
        rig.run(.milliseconds(500), step: .milliseconds(5))
        let before = rig.sink.samples.count
        rig.deck.handle(.press(.stop, at: rig.clock.now()))
        rig.run(.milliseconds(50), step: .milliseconds(5))
        #expect(rig.deck.state == .idle)
        let after = rig.sink.samples[before...]
        #expect(after.prefix { $0 != 0 }.count <= 8 * 35)
    }

    @Test func `a card of another rate gets the take resampled, in full length`() throws {
        let rig = try rig(takes: [])
        // A sine of 1 kHz at half scale, at 8 kHz.
        let cycle: [Double] = [0, 0.5.squareRoot(), 1, 0.5.squareRoot(), 0, -0.5.squareRoot(), -1, -0.5.squareRoot()]
        let samples = (0..<16000).map { Int32(cycle[$0 % 8] * 1_073_741_824) }
        try addTake(to: rig, StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s32)) { output in
            try samples.withUnsafeBytes { try output.append($0, unfiltered: nil) }
        }
        rig.sink.format = StreamFormat(rateHz: 22050, channels: 2, sampleFormat: .s32)
        rig.sink.bufferFrames = 11025
        rig.press(.play)
        playOut(rig)
        let played = rig.sink.played.withUnsafeBytes { Array($0.bindMemory(to: Int32.self)) }
        let left = stride(from: 0, to: played.count, by: 2).map { Double(played[$0]) / 2_147_483_648 }
        let right = stride(from: 1, to: played.count, by: 2).map { Double(played[$0]) / 2_147_483_648 }
        #expect(left == right)
        let length = (left.lastIndex { abs($0) > 0.001 } ?? 0) + 1
        #expect(abs(length - 44100) < 40)
        // The residual after removing the sine of the right pitch, over whole periods away from both ends.
        let turn = 2 * Double.pi * 1000 / 22050
        let middle = left[2000..<2000 + 90 * 441].enumerated().map { (Double($0 + 2000), $1) }
        let sine = middle.reduce(0) { $0 + $1.1 * Waves.sine(turn * $1.0) } * 2 / Double(middle.count)
        let cosine = middle.reduce(0) { $0 + $1.1 * Waves.sine(turn * $1.0 + .pi / 2) } * 2 / Double(middle.count)
        let rest = middle.reduce(0) {
            let model = sine * Waves.sine(turn * $1.0) + cosine * Waves.sine(turn * $1.0 + .pi / 2)
            return $0 + ($1.1 - model) * ($1.1 - model)
        }
        let power = middle.reduce(0) { $0 + $1.1 * $1.1 }
        #expect(power / rest > 1e12)
        // It is aligned with the take: it begins with the take's first frame.
        #expect(abs(sine - 0.5) < 1e-5 && abs(cosine) < 1e-3)
    }
}
