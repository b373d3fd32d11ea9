import CAllocationCount
import Foundation
import Glibc
import Takes
import Testing

@testable import Ring
@testable import SoundCard

/// Uses ALSA's own plug-ins as cards. The tests run serially, because the process has one ALSA configuration.
@Suite(.serialized) struct CaptureCardTests {
    init() throws {
        _ = try OwnALSA.folder()
    }

    private func error(opening name: String) -> String {
        do {
            _ = try CaptureCard().open(CaptureRequest(card: .pcm(name)))
            return "it opened"
        } catch {
            return "\(error)"
        }
    }

    // MARK: Opening

    @Test func `a name that ALSA does not know is an error with ALSA's own message`() {
        #expect(
            error(opening: "nope")
                == "capture: nope: cannot open: No such file or directory (Unknown PCM nope)")
        #expect(error(opening: "hw:CARD=Nope").hasPrefix("capture: hw:CARD=Nope: cannot open: "))
        #expect(error(opening: "broken").hasPrefix("capture: broken: cannot open: "))
        #expect(error(opening: "missing").hasPrefix("capture: missing: cannot open: "))
    }

    @Test func `ALSA's messages belong to the call that failed`() {
        let first = error(opening: "nope")
        let second = error(opening: "nope")
        #expect(first == second)
        #expect(Chatter.take() == nil)
    }

    @Test func `a short period is granted on request`() throws {
        let request = CaptureRequest(card: .pcm("null"), rateHz: 48000, period: .milliseconds(20))
        #expect(try CaptureCard(sampleFormat: .s16).open(request).periodFrames == 960)
    }

    @Test func `a plug-in is opened at what is asked, and its grant read back`() throws {
        let card = CaptureCard(sampleFormat: .s16)
        let grant = try card.open(CaptureRequest(card: .pcm("null"), rateHz: 44100, channels: 3))
        #expect(grant.card == "pcm:null")
        #expect(grant.format == StreamFormat(rateHz: 44100, channels: 3, sampleFormat: .s16))
        #expect(grant.periodFrames == 5292)
        #expect(grant.bufferFrames >= 3 * grant.periodFrames && grant.bufferFrames <= 44100)
        #expect(grant.gain == CardGain())
    }

    @Test func `gain that cannot be set is a warning and no error`() throws {
        let card = CaptureCard()
        let grant = try card.open(CaptureRequest(card: .pcm("null"), gainDB: 12, agc: true))
        #expect(
            grant.warnings.contains("capture: null: cannot set gain or automatic gain control: it has no mixer"))
    }

    @Test func `the gain of a card that is closed is not set, and that of one without a mixer is refused`() throws {
        let card = CaptureCard()
        #expect(try card.setGain(gainDB: 3, agc: true) == nil)
        _ = try card.open(CaptureRequest(card: .pcm("null")))
        #expect(try card.setGain(gainDB: nil, agc: false) == CardGain())
        let sentence = "capture: null: cannot set gain or automatic gain control: it has no mixer"
        #expect(throws: GainError(.noControl, sentence)) { try card.setGain(gainDB: 3, agc: nil) }
        #expect(throws: GainError(.noControl, sentence)) { try card.setGain(gainDB: nil, agc: true) }
        card.stop()
        #expect(try card.setGain(gainDB: 3, agc: nil) == nil)
    }

    @Test func `a mixer that is not there is an error with its name`() {
        let error = #expect(throws: SoundCardError.self) {
            _ = try GainControls(opening: "hw:31").apply(gainDB: 1, agc: nil)
        }
        #expect(error?.description.hasPrefix("capture: hw:31: cannot open its mixer: ") == true)
    }

    @Test func `controls that are not there are an error with their name`() {
        let error = #expect(throws: SoundCardError.self) { _ = try CardControl(opening: 31).names() }
        #expect(error?.description.hasPrefix("capture: hw:31: cannot open its controls: ") == true)
    }

    @Test func `a plug-in's offers are not the hardware's`() throws {
        let offers = try CapturePCM(opening: "null").pcm.offers()
        #expect(!offers.isHardware)
        #expect(offers.formats == SampleFormat.allCases)
    }

    @Test(arguments: ["bytes", "backwards"])
    func `a card without a format of ours is recorded from where ALSA converts`(name: String) throws {
        #expect(try CapturePCM(opening: name).pcm.offers().formats == [])
        let grant = try CaptureCard().open(CaptureRequest(card: .pcm(name), rateHz: 48000, channels: 2))
        #expect(grant.format == StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s32))
    }

    @Test func `a rate that no other card has is granted where it is asked for`() throws {
        let grant = try CaptureCard().open(CaptureRequest(card: .pcm("null"), rateHz: 123_456))
        #expect(grant.format.rateHz == 123_456)
    }

    @Test(arguments: ["null", "narrow", "ramp"])
    func `what is found by few questions is the first of all candidates`(name: String) throws {
        let pcm = try CapturePCM(opening: name, automatic: true)
        let offers = try pcm.pcm.offers()
        for rate in [nil, 44100, 48000, 96000] {
            for channels in [nil, 1, 2, 6, .numbered([2]), .live] as [ChannelChoice?] {
                for format in [nil, SampleFormat.s16, .float] {
                    let negotiation = Negotiation(rateHz: rate, channels: channels, sampleFormat: format)
                    let first = try? negotiation.candidates(from: offers, of: name).first
                    #expect(try pcm.pcm.first(of: negotiation) == (first?.rateHz == rate ?? 48000 ? first : nil))
                }
            }
        }
    }

    @Test func `a configuration that cannot be is refused`() throws {
        let pcm = try CapturePCM(opening: "null")
        let error = #expect(throws: SoundCardError.self) {
            _ = try pcm.configure(StreamFormat(rateHz: 48000, channels: 0, sampleFormat: .s16))
        }
        #expect(error?.description == "capture: null: cannot set 0 channels: Invalid argument")
    }

    // MARK: Capturing

    @Test func `a file's bytes arrive in the ring as they are`() throws {
        let card = CaptureCard(sampleFormat: .s16)
        let grant = try card.open(CaptureRequest(card: .pcm("ramp"), rateHz: 48000, channels: 1))
        let ring = Ring(format: grant.format, holding: .seconds(20), periodFrames: grant.periodFrames)
        try card.startInSteps(into: ring)
        while ring.position < 96000 {
            let goesOn = card.step()
            #expect(goesOn)
        }
        card.stop()
        let goesOn = card.step()
        #expect(!goesOn)
        let samples = ring.samples
        let firstWrong = samples.prefix(96000).enumerated().first {
            $0.element != Int16(truncatingIfNeeded: $0.offset)
        }
        #expect(firstWrong == nil)
        #expect(ring.stamp(number: 0)?.kind == .started)
        #expect(card.end == nil)
    }

    @Test func `the channels that are chosen arrive in the ring, and the card grants them`() throws {
        let card = CaptureCard(sampleFormat: .s16)
        let grant = try card.open(CaptureRequest(card: .pcm("ramp"), rateHz: 48000, channels: .numbered([3, 1])))
        #expect(grant.layout == ChannelLayout(keeping: [3, 1], of: 3))
        #expect(grant.summary == "48000 Hz, 2 channels, S16_LE, channels 3, 1 of 3")
        #expect(CaptureRequest().again(grant).channels == .layout(grant.layout))
        let ring = Ring(format: grant.format, holding: .seconds(20), periodFrames: grant.periodFrames)
        try card.startInSteps(into: ring)
        while ring.position < 24000 {
            let goesOn = card.step()
            #expect(goesOn)
        }
        card.stop()
        let kept: [Int16] = (0..<24000).flatMap { (frame: Int) -> [Int16] in
            [Int16(truncatingIfNeeded: 3 * frame + 2), Int16(truncatingIfNeeded: 3 * frame)]
        }
        let samples = ring.samples
        let firstWrong = kept.indices.first { !samples.indices.contains($0) || samples[$0] != kept[$0] }
        #expect(firstWrong == nil)
    }

    @Test func `live channels are those that have a signal in the first second after the card is opened`() throws {
        let card = CaptureCard(sampleFormat: .s16)
        let grant = try card.open(CaptureRequest(card: .pcm("half"), rateHz: 48000, channels: .live))
        #expect(grant.summary == "48000 Hz, 1 channel, S16_LE, channel 1 of 2")
        let ring = Ring(format: grant.format, holding: .seconds(20), periodFrames: grant.periodFrames)
        try card.startInSteps(into: ring)
        while ring.position < 48000 {
            let goesOn = card.step()
            #expect(goesOn)
        }
        card.stop()
        // Each sample is one more than the previous one, so none comes from the other channel.
        let samples = ring.samples
        #expect(zip(samples, samples.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
        #expect(ring.stamp(number: 0)?.kind == .started)
        // The layout is kept, whatever signal the channels have.
        let again = try card.open(CaptureRequest(card: .pcm("silence")).again(grant))
        #expect(again.layout == grant.layout && again.format == grant.format)
    }

    @Test func `live channels stay until another card is opened, or the same one in another way`() throws {
        let file = URL(fileURLWithPath: "\(try OwnALSA.folder())/changing.raw")
        // Two seconds of stereo; the given channels contain numbered samples.
        func play(_ channels: Set<Int>) throws {
            let samples = (0..<192_000).map { channels.contains($0 % 2 + 1) ? Int16(truncatingIfNeeded: $0 / 2) : 0 }
            try samples.withUnsafeBytes { Data($0) }.write(to: file)
        }
        let card = CaptureCard(sampleFormat: .s16)
        func kept(_ name: String, rateHz: Int = 48000) throws -> [Int] {
            defer { card.stop() }
            return try card.open(CaptureRequest(card: .pcm(name), rateHz: rateHz, channels: .live)).layout.kept
        }
        try play([])
        #expect(try kept("changing") == [1, 2])
        // A result without any live channel is not remembered.
        try play([2])
        #expect(try kept("changing") == [2])
        try play([1])
        #expect(try kept("changing") == [2])
        #expect(try kept("changing", rateHz: 44100) == [1])
        #expect(try kept("half") == [1])
        try play([1, 2])
        #expect(try kept("changing") == [1, 2])
    }

    @Test func `if no channel has a signal, all are kept`() throws {
        let card = CaptureCard(sampleFormat: .s16)
        let silent = try card.open(CaptureRequest(card: .pcm("silence"), rateHz: 48000, channels: .live))
        #expect(silent.layout == ChannelLayout(all: 2))
    }

    @Test(
        .enabled(if: allocations_are_counted()),
        arguments: zip(
            ["null", "ramp", "null", "ramp"], [1, 1, .numbered([2]), .numbered([3, 1])] as [ChannelChoice]))
    func `the capture loop neither allocates nor frees`(name: String, channels: ChannelChoice) throws {
        let card = CaptureCard(sampleFormat: .s16)
        let grant = try card.open(CaptureRequest(card: .pcm(name), rateHz: 48000, channels: channels))
        let ring = Ring(format: grant.format, holding: .seconds(3), periodFrames: grant.periodFrames)
        try card.startInSteps(into: ring)
        // One step more than the ring holds, to test both of its ends; then the same with a full ring.
        for hold in [false, true] {
            if hold { _ = ring.hold(from: ring.position) }
            var steps = 0
            let before = allocation_count_of_this_thread()
            while steps < 10, card.step() { steps += 1 }
            let count = allocation_count_of_this_thread() - before
            #expect(count == 0, "\(name), held: \(hold)")
            #expect(steps == 10)
        }
        // The stop leaves the stamp of the frames that were dropped last.
        let next = ring.stampNumber
        card.stop()
        #expect(ring.missedFrames > 0)
        #expect(ring.stamp(number: next)?.kind == .stall)
    }

    @Test(.enabled(if: allocations_are_counted()))
    func `a running PCM wakes at another count of frames, which allocates nothing`() throws {
        let pcm = try CapturePCM(opening: "null")
        _ = try pcm.configure(StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16))
        try pcm.start()
        let device = CaptureDevice.alsa(pcm.pcm.handle)
        let before = allocation_count_of_this_thread()
        let statuses = (device.wake(atFrames: 20000), device.wake(atFrames: 2880))
        let count = allocation_count_of_this_thread() - before
        #expect(statuses == (0, 0))
        #expect(count == 0)
    }

    @Test func `a stop ends a capture that would never end`() throws {
        let card = CaptureCard(sampleFormat: .s16)
        for _ in 0..<3 {
            let grant = try card.open(CaptureRequest(card: .pcm("ramp"), channels: 1))
            let ring = Ring(format: grant.format, holding: .seconds(2), periodFrames: grant.periodFrames)
            _ = ring.hold(from: 0)
            try card.start(into: ring)
            card.stop()
            card.stop()
            #expect(card.end == nil)
            // A card that was stopped before its first frame left no stamp.
            #expect(ring.stamp(number: 0).map { $0.kind == .started } ?? (ring.delivered == 0))
        }
    }

    @Test func `a thread that hangs in the driver does not hold up a stop, and is left to end by itself`() throws {
        let pipe = "\(try OwnALSA.folder())/pipe"
        mkfifo(pipe, 0o600)
        let writer = open(pipe, O_RDWR)
        defer { close(writer) }
        let card = CaptureCard(sampleFormat: .s16, patience: .milliseconds(50))
        let grant = try card.open(CaptureRequest(card: .pcm("pipe"), rateHz: 48000, channels: 1))
        let ring = Ring(format: grant.format, holding: .seconds(2), periodFrames: grant.periodFrames)
        let bytes = [UInt8](repeating: 1, count: 2)
        #expect(write(writer, bytes, 2) == 2)
        try card.start(into: ring)
        // The thread has read the available bytes, and waits for more.
        var waiting: Int32 = 1
        while waiting > 0 { _ = ioctl(writer, UInt(FIONREAD), &waiting) }
        card.stop()
        #expect(card.end == nil)
        // The abandoned capture ends now, and does not disturb another one.
        let second = try card.open(CaptureRequest(card: .pcm("ramp"), rateHz: 48000, channels: 1))
        try card.startInSteps(
            into: Ring(format: second.format, holding: .seconds(2), periodFrames: second.periodFrames))
        let rest = [UInt8](repeating: 1, count: 60000)
        #expect(write(writer, rest, rest.count) == rest.count)
        for _ in 0..<3 {
            let goesOn = card.step()
            #expect(goesOn)
        }
        card.stop()
        #expect(card.end == nil)
    }

    @Test func `only the capture that is under way is reported as ended`() throws {
        let signal = CaptureEndSignal()
        func isReadable() -> Bool {
            var descriptor = pollfd(fd: signal.fileDescriptor, events: Int16(POLLIN), revents: 0)
            return poll(&descriptor, 1, 0) == 1
        }
        func lostCapture() throws -> CaptureLoop {
            let pcm = ScriptedPCM()
            pcm.waits = [1]
            pcm.stamps = [(-ENODEV, 0, 0)]
            return try pcm.run(into: ScriptedPCM.ring()).loop
        }
        let (first, second) = (try lostCapture(), try lostCapture())
        let end = CaptureEnd.cardLost("capture: hw:CARD=Mic: the card is gone: No such device")
        signal.follow(second, name: "hw:CARD=Mic")
        signal.raise(for: first)
        #expect(!isReadable())
        signal.raise(for: second)
        #expect(isReadable() && signal.end == end)
        signal.lower()
        #expect(!isReadable() && signal.end == end)
        signal.follow(nil)
        signal.raise(for: second)
        #expect(!isReadable() && signal.end == nil)
    }

    @Test func `a capture is started once, into a ring of its own format`() throws {
        let card = CaptureCard(sampleFormat: .s16)
        #expect(throws: SoundCardError.self) { try card.start(into: ScriptedPCM.ring()) }
        _ = try card.open(CaptureRequest(card: .pcm("null"), rateHz: 48000, channels: 1))
        let error = #expect(throws: SoundCardError.self) { try card.start(into: ScriptedPCM.ring()) }
        #expect(
            error?.description == "capture: null: cannot start: the ring is for 1000 Hz, 1 channel, S16_LE, "
                + "the card runs at 48000 Hz, 1 channel, S16_LE")
    }

    // MARK: Ends

    @Test func `an end is one sentence`() {
        func end(_ why: CaptureLoop.Ending, _ status: Int32 = 0) -> CaptureEnd? {
            CaptureEnd((why, status), of: "hw:CARD=Mic")
        }
        #expect(end(.running) == nil)
        #expect(end(.cardLost, -ENODEV) == .cardLost("capture: hw:CARD=Mic: the card is gone: No such device"))
        #expect(end(.read, -EIO) == .failed("capture: hw:CARD=Mic: cannot read: Input/output error"))
        #expect(
            end(.restart, -EIO)
                == .failed("capture: hw:CARD=Mic: cannot start it again after an overrun: Input/output error"))
        #expect(
            end(.overrunAgain, -EPIPE)
                == .failed("capture: hw:CARD=Mic: overran again and again, with no frame between"))
        #expect(
            end(.silent)
                == .failed("capture: hw:CARD=Mic: delivered nothing for 1.5 s (unplug it and plug it in again)"))
    }
}
