import Filters
import Live
import Ring
import Takes
import Testing

@testable import Listening

/// The stream that a peer gets.
@Suite struct LiveStreamTests {
    @Test func `the header states the card's rate, 16 bits, and a length that is not known`() throws {
        let rig = try ListenRig()
        rig.open(rateHz: 96000)
        let peer = rig.peer()
        let unknown: [UInt8] = [255, 255, 255, 255]
        let form: [UInt8] = [16, 0, 0, 0, 1, 0, 2, 0, 0x00, 0x77, 0x01, 0x00, 0x00, 0xdc, 0x05, 0x00, 4, 0, 16, 0]
        let header =
            Array("RIFF".utf8) + unknown + Array("WAVEfmt ".utf8) + form + Array("data".utf8) + unknown
        #expect(peer.receive() == header)
    }

    @Test func `frames follow each other from the one that is sampled next`() throws {
        let rig = try ListenRig()
        rig.open()
        rig.deliver(1000)
        let peer = rig.peer()
        for _ in 0..<10 {
            rig.deliver(77)
            rig.turn()
        }
        #expect(peer.frames == (1000..<1770).map { Int16($0) })
    }

    @Test(arguments: ["mono\n", "mono"])
    func `a peer that asks for mono gets the mean of all channels`(request: String) throws {
        let rig = try ListenRig()
        rig.open(channels: 3)
        let peer = rig.peer(asking: request)
        rig.deliver(100) { frame, channel in Int16(frame) * 300 + Int16(channel) * 30 }
        rig.turn()
        let mean = (0..<100).map { Int16($0) * 300 + 30 }
        #expect(peer.samples == mean)
        #expect(peer.bytes[22] == 1 && peer.bytes[32] == 2)
    }

    @Test func `a whole request is answered without waiting for more`() throws {
        let rig = try ListenRig()
        rig.open()
        let peer = ListenRig.Listener(rig.path)
        peer.send("stereo\n")
        rig.turn()
        #expect(peer.receive().count == 44)
        let other = ListenRig.Listener(rig.path)
        other.finishSending()
        rig.turn()
        #expect(other.receive().count == 44)
        rig.deliver(10)
        rig.turn()
        #expect(peer.frames == other.frames && other.frames.count == 10 && !other.isOver)
    }

    @Test func `a card with one channel gives mono, or stereo on request`() throws {
        let rig = try ListenRig()
        rig.open(channels: 1)
        let (usual, stereo) = (rig.peer(), rig.peer(asking: "stereo\n"))
        rig.deliver(3) { frame, _ in Int16(frame + 1) }
        rig.turn()
        #expect(usual.samples == [1, 2, 3])
        #expect(stereo.samples == [1, 1, 2, 2, 3, 3])
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n", "monophonic, please", "\u{0}\n"])
    func `a peer that asks for something else is disconnected`(request: String) throws {
        let rig = try ListenRig()
        rig.open()
        let peer = rig.peer(asking: request)
        #expect(peer.receive() == [] && peer.isOver && rig.loop.peers.isEmpty)
    }

    @Test func `wider samples are rounded to 16 bits`() throws {
        let ring = Ring(
            format: StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s32), holding: .seconds(1), periodFrames: 800
        )
        let rig = try ListenRig()
        rig.open(in: ring)
        let peer = rig.peer()
        let values: [Int32] = [0, 1 << 16, 3 << 15, -(3 << 15), .max, .min, 0x1234_5678]
        _ = unsafe ring.writable(Int64(values.count)).bindMemory(to: Int32.self).update(fromContentsOf: values)
        ring.commit(Int64(values.count))
        rig.turn()
        #expect(peer.samples == [0, 1, 2, -2, 32767, -32768, 0x1234])
    }

    @Test func `the filter that is in force is applied, and its changes`() throws {
        let rig = try ListenRig()
        let low = try FilterDesign(lowPassHz: 200, highPassHz: nil, slopeDBPerOctave: 48, rateHz: 8000)
        rig.open(channels: 1, design: low)
        let peer = rig.peer()
        // A tone of 2 kHz, far above the cutoff.
        let tone: (Int64, Int) -> Int16 = { frame, _ in [0, 10000, 0, -10000][Int(frame % 4)] }
        rig.deliver(4000, tone)
        rig.turn()
        #expect(peer.samples.count == 4000)
        #expect(peer.samples.dropFirst(400).allSatisfy { abs($0) < 10 })
        rig.filter(.off(rateHz: 8000))
        for _ in 0..<2 {
            rig.deliver(4000, tone)
            rig.turn()
        }
        let unfiltered = (0..<4000).map { tone(Int64($0), 0) }
        #expect(peer.samples.suffix(4000) == unfiltered[...])
    }

    @Test func `a filter does not start from rest`() throws {
        let rig = try ListenRig()
        rig.open(
            channels: 1, design: try FilterDesign(lowPassHz: nil, highPassHz: 20, slopeDBPerOctave: 12, rateHz: 8000))
        // An offset, which the filter has removed long before the peer connects.
        rig.deliver(16000) { _, _ in 10000 }
        let peer = rig.peer()
        rig.deliver(400) { _, _ in 10000 }
        rig.turn()
        #expect(peer.samples.count == 400 && peer.samples.allSatisfy { abs($0) < 20 })
    }
}
