import Glibc
import Takes
import Testing
import Workers

@testable import Ring
@testable import SoundCard

/// Records the other side of a loopback that a take is played into.
private final class LoopbackRecorder {
    private let card: CaptureCard
    private let ring: Ring
    private let frameBytes: Int

    /// Records the loopback in `format`, which the playing side must then also use.
    init(_ format: StreamFormat) throws {
        card = CaptureCard(sampleFormat: format.sampleFormat)
        let grant = try card.open(
            CaptureRequest(card: .pcm("hw:CARD=Loopback"), rateHz: format.rateHz, channels: .first(format.channels)))
        ring = Ring(format: grant.format, holding: .seconds(20), periodFrames: grant.periodFrames)
        frameBytes = format.bytesPerFrame
        try card.start(into: ring)
    }

    /// All bytes recorded until `seconds` from now.
    func bytes(after seconds: Double) throws -> [UInt8] {
        let end = ring.position + Int64(seconds * Double(ring.format.rateHz))
        try #require(waitUntil { ring.position >= end })
        card.stop()
        #expect(ring.xrunCount == 0)
        return ring.withFrames(from: .start, atMost: ring.position.count) { Array($0) }
    }

    /// The stretches of sound between silence, in bytes. A stretch ends with the last frame before `quietFrames` of
    /// silence.
    func stretches(after seconds: Double = 0.3, quietFrames: Int = 480) throws -> [[UInt8]] {
        let bytes = try bytes(after: seconds)
        var stretches: [[UInt8]] = []
        var quiet = quietFrames
        for start in stride(from: 0, to: bytes.count, by: frameBytes) {
            let frame = bytes[start..<start + frameBytes]
            guard frame.contains(where: { $0 != 0 }) else {
                quiet += 1
                continue
            }
            if quiet >= quietFrames {
                stretches.append([])
            } else {
                stretches[stretches.count - 1] += [UInt8](repeating: 0, count: quiet * frameBytes)
            }
            quiet = 0
            stretches[stretches.count - 1] += frame
        }
        return stretches
    }
}

/// Checks every few milliseconds, for at least half a minute.
private func waitUntil(_ condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<15_000 {
        if try condition() { return true }
        poll(nil, 0, 2)
    }
    return false
}

/// Frames without silence, different for each seed.
private func frames(_ count: Int, _ format: StreamFormat, seed: UInt64) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15
    return (0..<count * format.bytesPerFrame).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56) | 1
    }
}

extension PlaybackCard {
    /// Writes all bytes, as room becomes free.
    fileprivate func play(_ bytes: [UInt8], _ format: StreamFormat) throws {
        var done = 0
        let wentThrough = try waitUntil {
            done += try bytes[done...].withUnsafeBytes { try write($0) } * format.bytesPerFrame
            return done == bytes.count
        }
        try #require(wentThrough)
    }

    fileprivate func waitUntilPlayed() throws {
        let isPlayed = try waitUntil { try queuedFrames() == 0 }
        try #require(isPlayed)
    }
}

/// Runs on the test board with the kernel's loopback. The tests run serially, because they share it.
@Suite(.serialized, .enabled(if: access("/run/gpio", F_OK) == 0, "runs on the test board"))
struct PlaybackBoardTests {
    /// Playback goes into device 1, the companion's recording device. Other programs capture the sound from device 0.
    private let request = { PlaybackRequest(companion: .cardID("Loopback"), format: $0) }
    private let cd = StreamFormat(rateHz: 44100, channels: 2, sampleFormat: .s16)

    @Test(arguments: zip(SampleFormat.allCases, [(44100, 2), (8000, 1), (96000, 6), (192_000, 2), (48000, 1)]))
    func `what is played arrives to the bit and to the last frame, and nothing after it`(
        format: SampleFormat, shape: (rateHz: Int, channels: Int)
    ) throws {
        let format = StreamFormat(rateHz: shape.rateHz, channels: shape.channels, sampleFormat: format)
        let recorder = try LoopbackRecorder(format)
        let card = PlaybackCard()
        let grant = try card.open(request(format))
        #expect(grant.card == "card:Loopback")
        #expect(grant.format == format)
        #expect(grant.bufferFrames == format.rateHz / 2)
        let sound = frames(format.rateHz * 7 / 10 + 13, format, seed: 1)
        try card.play(sound, format)
        try card.waitUntilPlayed()
        let recorded = try recorder.stretches()
        #expect(recorded.map(\.count) == [sound.count])
        #expect(recorded.first == sound)
        #expect(card.underruns == 0)
    }

    @Test func `what is taken back is not played, and what is written in its place is`() throws {
        let recorder = try LoopbackRecorder(cd)
        let card = PlaybackCard()
        _ = try card.open(request(cd))
        let first = frames(20000, cd, seed: 1)
        let second = frames(30000, cd, seed: 2)
        try card.play(first, cd)
        let queued = try card.queuedFrames()
        let taken = try card.takeBack(keeping: 4410)
        #expect(taken > 10000 && taken <= queued - 4410)
        #expect(try card.queuedFrames() <= 4410 + 20000 - queued)
        try card.play(second, cd)
        try card.waitUntilPlayed()
        let recorded = try recorder.stretches()
        let kept = first.prefix((20000 - taken) * cd.bytesPerFrame)
        #expect(recorded.map(\.count) == [kept.count + second.count])
        #expect(recorded.first.map { $0.elementsEqual(kept + second) } == true)
        #expect(card.underruns == 0)
    }

    @Test func `after running dry it plays on, and that is counted`() throws {
        let recorder = try LoopbackRecorder(cd)
        let card = PlaybackCard()
        _ = try card.open(request(cd))
        let sounds = (1...3).map { frames(3000 + Int($0), cd, seed: $0) }
        for sound in sounds {
            try card.play(sound, cd)
            try card.waitUntilPlayed()
            #expect(try card.takeBack(keeping: 0) == 0)
            let now = card.underruns
            // Long enough to count as silence between the sounds.
            let end = SystemClock().now() + .milliseconds(50)
            #expect(waitUntil { SystemClock().now() >= end })
            #expect(card.underruns == now)
        }
        let recorded = try recorder.stretches()
        #expect(recorded.map(\.count) == sounds.map(\.count))
        #expect(recorded == sounds)
        #expect(card.underruns == 2)
    }

    @Test func `what is dropped is not played, and the next sound starts the card again`() throws {
        let recorder = try LoopbackRecorder(cd)
        let card = PlaybackCard()
        _ = try card.open(request(cd))
        let first = frames(20000, cd, seed: 1)
        let second = frames(5000, cd, seed: 2)
        try card.play(first, cd)
        let isUnderWay = try waitUntil { try card.queuedFrames() < 18000 }
        #expect(isUnderWay)
        card.drop()
        #expect(try card.queuedFrames() == 0)
        let end = SystemClock().now() + .milliseconds(50)
        #expect(waitUntil { SystemClock().now() >= end })
        try card.play(second, cd)
        try card.waitUntilPlayed()
        let recorded = try recorder.stretches()
        #expect(recorded.count == 2)
        #expect(recorded.last == second)
        let begun = recorded.first ?? []
        #expect(begun.elementsEqual(first.prefix(begun.count)))
        #expect(begun.count >= 1900 * cd.bytesPerFrame && begun.count < 10000 * cd.bytesPerFrame)
        #expect(card.underruns == 0)
    }

    @Test func `what the other side has fixed is what is offered`() throws {
        let recorder = try LoopbackRecorder(cd)
        let take = StreamFormat(rateHz: 48000, channels: 1, sampleFormat: .s24Packed)
        let grant = try PlaybackCard().open(request(take))
        #expect(grant.format == cd)
        _ = try recorder.bytes(after: 0)
    }

    @Test func `the error of a card that is busy names the process that plays on it`() throws {
        var cards: [PlaybackCard] = []
        var sentence: String?
        // Opens all subdevices of the loopback.
        while sentence == nil, cards.count < 9 {
            let card = PlaybackCard()
            do {
                _ = try card.open(request(cd))
                cards.append(card)
            } catch {
                sentence = "\(error)"
            }
        }
        #expect(
            sentence?.hasPrefix(
                "play: hw:CARD=Loopback,DEV=1: cannot open: Device or resource busy (held by pid \(getpid()), ")
                == true, "\(sentence ?? "none was refused")")
        let report = SoundCards().reports().first { $0.card == "Loopback" }
        #expect(report?.playbackBusyBy?.hasPrefix("pid \(getpid()), ") == true)
    }

    @Test func `the cards report what they play`() throws {
        let reports = SoundCards().reports()
        let loopback = try #require(reports.first { $0.card == "Loopback" })
        #expect(loopback.plays && loopback.playbackDevice == 1)
        #expect(loopback.playbackError == nil && loopback.playbackBusyBy == nil)
        #expect(Set(loopback.playbackRatesHz).isSuperset(of: [8000, 44100, 48000, 96000, 192_000]))
        #expect(loopback.playbackCombinations.map(\.format) == SampleFormat.allCases)
        #expect(reports.contains { $0.card == "Dummy" && $0.plays && !$0.playbackCombinations.isEmpty })
    }

    @Test func `a card that goes away is reported at once, and can be opened again when it is back`() throws {
        @Sendable func driver(_ verb: String) {
            let file = open("/sys/bus/platform/drivers/snd_aloop/\(verb)", O_WRONLY)
            defer { close(file) }
            #expect(write(file, "snd_aloop.0", 11) == 11)
        }
        let card = PlaybackCard()
        _ = try card.open(request(cd))
        let sound = frames(5000, cd, seed: 1)
        try card.play(sound, cd)
        // The kernel removes the card once every process has closed it.
        let unbinding = try Thread(name: "unbind") { driver("unbind") }
        let isReported = waitUntil { (try? card.queuedFrames()) == nil }
        #expect(isReported)
        let gone = "play: hw:CARD=Loopback,DEV=1: the card is gone: No such device"
        func result(_ call: () throws -> Int) -> String {
            do { return "\(try call())" } catch { return "\(error)" }
        }
        let sentences = [
            result { try card.queuedFrames() }, result { try card.takeBack(keeping: 0) },
            result { try sound.withUnsafeBytes { try card.write($0) } },
        ]
        #expect(sentences == [gone, gone, gone])
        card.drop()
        card.close()
        unbinding.join()
        let absent = result { try card.open(PlaybackRequest(card: .cardID("Loopback"), format: cd)).bufferFrames }
        #expect(
            absent.hasPrefix("play: card:Loopback: cannot find the card: it is not connected (there are: "), "\(absent)"
        )
        driver("bind")
        let recorder = try LoopbackRecorder(cd)
        #expect(try card.open(request(cd)).format == cd)
        try card.play(sound, cd)
        try card.waitUntilPlayed()
        #expect(try recorder.stretches() == [sound])
    }
}
